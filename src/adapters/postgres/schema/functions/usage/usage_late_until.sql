-- Returns the time before which changes to hourly usage are late: their hour is closed, or their day is being rolled up
-- or has been. The shared lock keeps that time as it is until this transaction commits (`usage_fence`). So a batch is
-- either counted before its hours are closed, or noted as late.
create or replace function usage_late_until() returns timestamptz language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(7311970460);
  return (
    select greatest(e.closed_until, k.rolling_until::timestamp at time zone 'UTC') from usage_export e, usage_kept k
  );
end $$;
