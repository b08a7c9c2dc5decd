-- Waits until every batch that may still treat hours as open has committed. A batch that starts later sees the caller's
-- changes. Each batch holds this lock in shared mode from `usage_hourly_changed` to its commit, so batches do not wait
-- for each other. While this function waits, new batches queue up behind it, so it gives up after one second and
-- returns false.
create or replace function usage_fence() returns boolean language plpgsql set lock_timeout = '1s' as $$
begin
  perform pg_advisory_xact_lock(7311970460);
  return true;
exception when lock_not_available then
  return false;
end $$;
