-- Fails while a replica is registered that cannot enforce limits: a change that sets limits calls this right after
-- `change_begin`. `limits` is null or an object; absent members stay, and null removes a limit. A removed limit was
-- set before, so no such replica exists then.
create or replace function limits_begin(limits jsonb) returns void language plpgsql as $$
begin
  if exists (select from jsonb_each(limits) l where l.value <> 'null') then
    perform fleet_require(2);
  end if;
end $$;
