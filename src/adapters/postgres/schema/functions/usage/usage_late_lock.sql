-- Lets only one transaction at a time note late counts, or change days that have already been rolled up, until it
-- commits. Batches for the current day never take this lock. A late batch takes it after locking its rows in
-- `usage_hourly`, and then waits for no other rows in that table.
create or replace function usage_late_lock() returns void language sql volatile as $$
  select pg_advisory_xact_lock(7311970458)
$$;
