-- Fails if `names` has the name of a plan and any registered replica does not know plans. Null elements are ignored. A
-- change that gives accounts these plans calls this right after `change_begin`. If none of the plans exists, the change
-- stores no plan, so replicas of 0.2.0 may still register after it.
create or replace function plan_begin_named(names text[]) returns void language plpgsql as $$
begin
  if exists (select from plan p where p.name = any (names)) then
    perform plan_begin();
  elsif array_remove(names, null) <> '{}' then
    perform fleet_check(3);
  end if;
end $$;
