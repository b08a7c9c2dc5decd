-- Takes one lock for each writer of `usage_daily`, from its first row to its commit. Without it two batches could
-- each wait for a day that the other has: the trigger sees a batch's inserted and updated rows one after the other,
-- so no order of rows is the same in both. The lock comes after the rows of hours, and its holder waits for none of
-- them.
create or replace function usage_daily_lock() returns void language sql volatile as $$
  select pg_advisory_xact_lock(7311970458)
$$;
