-- The caller is about to close hours or to roll up days. A batch that began earlier may still treat these hours or days
-- as open. This function waits until every such batch has committed. A batch that starts later waits for the caller's
-- commit and sees its changes. Each batch holds the same lock in shared mode from `usage_late_until` to its commit,
-- so batches do not wait for each other. While this function waits, new batches queue up behind it. So the function
-- gives up after one second and returns false.
create or replace function usage_fence() returns boolean language plpgsql set lock_timeout = '1s' as $$
begin
  perform pg_advisory_xact_lock(7311970460);
  return true;
exception when lock_not_available then
  return false;
end $$;
