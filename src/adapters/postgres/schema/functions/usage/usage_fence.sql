-- Waits until every batch that may still take hours as open has committed. Each batch holds this lock in shared mode from
-- `usage_hourly_changed` to its commit, so batches never wait for each other. A batch that comes later sees the caller's
-- changes. Returns false if that takes longer than a second, since new batches wait in the meantime.
create or replace function usage_fence() returns boolean language plpgsql set lock_timeout = '1s' as $$
begin
  perform pg_advisory_xact_lock(7311970457);
  return true;
exception when lock_not_available then
  return false;
end $$;
