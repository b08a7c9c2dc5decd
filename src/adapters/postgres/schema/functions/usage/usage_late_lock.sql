-- Takes a lock until the commit. Under this lock, transactions note late changes (`usage_hourly_changed`), number them
-- as corrections, or roll up days. A batch without late changes never takes the lock. A batch with late changes takes
-- it after locking its rows in `usage_hourly`, and then waits for no other rows in that table, so two batches cannot
-- deadlock.
create or replace function usage_late_lock() returns void language sql volatile as $$
  select pg_advisory_xact_lock(7311970458)
$$;
