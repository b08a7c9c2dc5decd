-- Returns the time before which changes to hourly usage are late. A change is late if its hour is closed, or if the
-- roll-up of its day has begun. The shared lock keeps this time the same until the commit (`usage_fence`). So a batch
-- is either counted before its hours are closed, or noted as late.
create or replace function usage_late_until() returns timestamptz language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(7311970460);
  return (
    select greatest(e.closed_until, k.rolling_until::timestamp at time zone 'UTC') from usage_export e, usage_kept k
  );
end $$;
