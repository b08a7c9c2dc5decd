-- Takes a lock until the commit. Transactions that number corrections, roll up days or change hourly rows by hand hold
-- it alone. Batches with late changes hold it in shared mode (`usage_count`), and other batches never take it.
--
-- A batch takes its locks in one order: its rows in `usage_hourly`, the lock of `usage_fence`, this lock, its rows in
-- `usage_late`, then those in `usage_daily`, rows of a table in the order of their keys. So a batch that holds this lock
-- waits only for another batch that holds it, and never in a circle. A transaction that holds it alone waits for no row
-- after that, because no batch has a row in `usage_late` or `usage_daily` then. Batches behind one that waits for it hold
-- only hourly rows. The holder waits for those only if it changes hourly rows by hand in more than one statement; such a
-- transaction may be ended as a deadlock. Deletions by age skip locked rows.
create or replace function usage_late_lock() returns void language sql volatile as $$
  select pg_advisory_xact_lock(7311970458)
$$;
