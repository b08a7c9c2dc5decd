-- Fails while a replica is registered that cannot enforce limits: a change that sets some calls this right after
-- `change_begin`. `limits` is an object of which absent members stay as they are and null takes a limit away, or null
-- altogether; a limit that is to be taken away was set, so there is no such replica.
create or replace function limits_begin(limits jsonb) returns void language plpgsql as $$
begin
  if exists (select from jsonb_each(limits) l where l.value <> 'null') then
    perform fleet_require(2);
  end if;
end $$;
