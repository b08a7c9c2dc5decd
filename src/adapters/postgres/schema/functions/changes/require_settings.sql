-- Fails if a setting keeps triggers from running, so that nobody would hear of a change, or makes PostgreSQL write values
-- in another form or hide rows. Each change checks this, since the database or role may get other defaults at any time.
-- A direct connection sets most of these itself; through a pooler, the role's settings apply.
create or replace function require_settings() returns void language plpgsql as $$
declare
  wrong constant text := (
    select string_agg(s.name, ', ') from (values
      ('session_replication_role', current_setting('session_replication_role') <> 'replica'),
      ('disabled triggers', not exists (
        select from pg_trigger t
        where t.tgrelid in ('account'::regclass, 'api_key'::regclass, 'plan'::regclass) and t.tgenabled not in ('O', 'A')
      )),
      ('row security', not row_security_active('account') and not row_security_active('api_key')),
      ('standard_conforming_strings', current_setting('standard_conforming_strings') = 'on'),
      ('bytea_output', current_setting('bytea_output') = 'hex'),
      ('datestyle', current_setting('datestyle') like 'ISO,%'),
      ('extra_float_digits', current_setting('extra_float_digits')::int >= 0)
    ) s (name, is_usual) where not s.is_usual
  );
begin
  perform require_read_committed();
  if wrong is not null then
    raise exception using errcode = 'TG003', message = 'the gateway cannot work with these settings: ' || wrong;
  end if;
end $$;
