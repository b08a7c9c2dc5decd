-- This trigger writes the event for a changed plan, which only operators see: its `account_id` is the nil UUID. It also
-- touches the plan's fact, and lets quotas that accounts get by the plan begin anew. A new plan touches no fact,
-- because no account had it, and no replica remembers that a plan does not exist.
create or replace function plan_changed() returns trigger language plpgsql as $$
begin
  perform event_add(
    '00000000-0000-0000-0000-000000000000',
    array['plan.' || case tg_op when 'INSERT' then 'created' when 'UPDATE' then 'updated' else 'deleted' end],
    array[null::uuid],
    array[case tg_op when 'DELETE' then to_jsonb(old) else to_jsonb(new) end],
    array[case tg_op when 'UPDATE' then event_previous(to_jsonb(old), to_jsonb(new)) end]
  );
  if tg_op = 'DELETE' then
    perform change_touch(array['+p:' || old.name]);
  elsif tg_op = 'UPDATE' then
    if (
        old.requests_per_second, old.burst, old.requests_per_minute, old.requests_per_day, old.requests_per_month,
        old.units_per_month
      ) is distinct from (
        new.requests_per_second, new.burst, new.requests_per_minute, new.requests_per_day, new.requests_per_month,
        new.units_per_month
      )
    then
      perform change_touch(array['+p:' || new.name]);
    end if;
    perform plan_quotas_changed(old, new);
  end if;
  return null;
end $$;
