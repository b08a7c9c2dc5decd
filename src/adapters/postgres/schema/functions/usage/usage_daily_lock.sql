-- The same lock for each writer of `usage_daily`, from its first row to its commit. Without it two batches could each wait for
-- a day that the other has: the rows that a batch inserts and those that it updates come to the trigger one after the other,
-- so no order of rows is the same in both. It is taken after the rows of hours, and nothing waits for those under it.
create or replace function usage_daily_lock() returns void language sql volatile as $$
  select pg_advisory_xact_lock(7311970458)
$$;
