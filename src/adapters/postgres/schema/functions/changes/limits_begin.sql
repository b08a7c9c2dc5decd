-- Fails if any registered replica cannot enforce limits. A change that sets limits calls this right after
-- `change_begin`. `limits` is null or an object; an absent member leaves its limit unchanged, and null removes it.
-- Removing a limit needs no check: once a limit has been set, only replicas that enforce limits can register.
create or replace function limits_begin(limits jsonb) returns void language plpgsql as $$
begin
  if exists (select from jsonb_each(limits) l where l.value <> 'null') then
    perform fleet_require(2);
  end if;
end $$;
