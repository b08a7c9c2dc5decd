-- Lets only one transaction at a time note late counts, or change days that are already added up, until it commits.
-- Batches for the present day never take this lock. A late batch takes it after locking its rows of `usage_hourly`, and
-- then waits for no other rows of that table.
create or replace function usage_late_lock() returns void language sql volatile as $$
  select pg_advisory_xact_lock(7311970458)
$$;
