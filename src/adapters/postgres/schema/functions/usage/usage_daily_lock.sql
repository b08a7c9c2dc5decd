-- Lets only one transaction at a time write `usage_daily`, from its first row to its commit. Without this lock, two
-- batches could each wait for a day that the other has locked: the trigger handles the inserted and the updated rows
-- of a batch separately, so batches lock days in different orders. A batch takes this lock after it has locked its
-- rows of hours, and then waits for no other rows of hours.
create or replace function usage_daily_lock() returns void language sql volatile as $$
  select pg_advisory_xact_lock(7311970458)
$$;
