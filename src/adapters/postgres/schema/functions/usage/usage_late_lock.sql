-- Lets only one transaction at a time change days that are added up, or note late counts, until its commit. Batches for
-- the present day never take this lock. A late batch takes it after it has locked its rows of hours, and then waits for
-- no other rows of hours.
create or replace function usage_late_lock() returns void language sql volatile as $$
  select pg_advisory_xact_lock(7311970458)
$$;
