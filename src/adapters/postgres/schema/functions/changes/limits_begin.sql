-- Fails if any registered replica cannot enforce limits. A change that sets limits calls this right after
-- `change_begin`. `limits` is null or an object; an absent member leaves its limit unchanged, and null removes it.
-- Removing a limit needs no check: once a limit has been set, only replicas that enforce it can register. Replicas of
-- 0.2.0 do not know `units_per_month`.
create or replace function limits_begin(limits jsonb) returns void language plpgsql as $$
begin
  if exists (select from jsonb_each(limits) l where l.value <> 'null') then
    perform fleet_require(case when limits -> 'units_per_month' <> 'null' then 3 else 2 end);
  end if;
end $$;
