-- Fails if a replica is registered that cannot enforce limits. A change that sets limits calls this right after
-- `change_begin`. `limits` is null or an object; an absent member leaves its limit as it is, and null removes it. A
-- removal needs no check: the limit was set before, so no such replica exists.
create or replace function limits_begin(limits jsonb) returns void language plpgsql as $$
begin
  if exists (select from jsonb_each(limits) l where l.value <> 'null') then
    perform fleet_require(2);
  end if;
end $$;
