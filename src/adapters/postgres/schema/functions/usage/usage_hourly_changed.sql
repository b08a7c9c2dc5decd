-- This trigger notes late changes: changes to closed hours, and to days that have already been rolled up. It sees the
-- changes made by every statement, from any function and any version of the gateway.
create or replace function usage_hourly_changed() returns trigger language plpgsql as $$
declare
  late_until timestamptz;
begin
  -- Two functions turn the trigger off: `usage_count` notes its late changes itself, and `usage_prune_hours` deletes
  -- hourly rows whose daily rows stay.
  if current_setting('tenancy_gateway.usage_noted', true) = 'on' then
    return null;
  end if;
  late_until := usage_late_until();
  if tg_op <> 'DELETE' then
    if exists (select from added n where n.hour < late_until) then
      perform usage_late_lock();
      perform usage_note_late((select array_agg(row(n.*)::usage_hourly) from added n where n.hour < late_until), 1);
    end if;
  end if;
  if tg_op <> 'INSERT' then
    if exists (select from removed o where o.hour < late_until) then
      perform usage_late_lock();
      perform usage_note_late((select array_agg(row(o.*)::usage_hourly) from removed o where o.hour < late_until), -1);
    end if;
  end if;
  return null;
end $$;
