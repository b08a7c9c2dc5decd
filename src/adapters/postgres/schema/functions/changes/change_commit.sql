-- This deferred trigger runs at commit. In a transaction that does not call `change_end`, such as hand-written SQL, it
-- recounts the sub-accounts of the affected parents and takes the position.
create or replace function change_commit() returns trigger language plpgsql as $$
declare
  uncounted constant text := current_setting('tenancy_gateway.uncounted', true);
begin
  if uncounted <> '' then
    perform set_config('tenancy_gateway.uncounted', '', true);
    perform account_recount(id::uuid) from unnest(string_to_array(uncounted, ' ')) id order by id;
  end if;
  perform change_position();
  return null;
end $$;
