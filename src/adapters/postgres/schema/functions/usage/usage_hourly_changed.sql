-- This trigger notes late changes: changes to closed hours, and to days that have already been rolled up. It sees the
-- changes made by every statement, from any function and any version of the gateway. The shared lock keeps hours from
-- being closed, and days from being rolled up, until this transaction commits (`usage_fence`). So a batch is either
-- counted before its hours are closed, or noted here as late.
create or replace function usage_hourly_changed() returns trigger language plpgsql as $$
declare
  late_until timestamptz;
begin
  -- Retention deletes hourly rows but keeps the daily ones. So its deletions are not noted as late changes, because a
  -- late change also updates the daily row.
  if current_setting('tenancy_gateway.usage_retention', true) = 'on' then
    return null;
  end if;
  perform pg_advisory_xact_lock_shared(7311970460);
  select greatest(e.closed_until, k.rolling_until::timestamp at time zone 'UTC') into late_until
    from usage_export e, usage_kept k;
  if tg_op <> 'DELETE' then
    if exists (select from added n where n.hour < late_until) then
      perform usage_note_late((select array_agg(row(n.*)::usage_hourly) from added n where n.hour < late_until), 1);
    end if;
  end if;
  if tg_op <> 'INSERT' then
    if exists (select from removed o where o.hour < late_until) then
      perform usage_note_late((select array_agg(row(o.*)::usage_hourly) from removed o where o.hour < late_until), -1);
    end if;
  end if;
  return null;
end $$;
