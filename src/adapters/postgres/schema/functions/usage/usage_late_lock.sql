-- Takes a lock until the commit. Transactions that number corrections, roll up days or change hourly rows by hand hold
-- the lock alone. Batches with late changes hold it in shared mode (`usage_count`), and other batches never take it.
--
-- Every batch locks in this order: rows in `usage_hourly`, the lock of `usage_fence`, this lock, rows in `usage_late`,
-- rows in `usage_daily`. It locks the rows of each table in the order of their keys. So a batch that holds this lock
-- waits only for other batches that hold it, and cannot deadlock with them. A transaction that holds this lock alone
-- never waits for rows in `usage_late` or `usage_daily`, because no batch can have locked any then. Batches that wait
-- for it, directly or behind another batch, have locked only hourly rows. The transaction waits for hourly rows only if
-- it changes them by hand in more than one statement; PostgreSQL may then end it as a deadlock. Deletions by age skip
-- locked rows.
create or replace function usage_late_lock() returns void language sql volatile as $$
  select pg_advisory_xact_lock(7311970458)
$$;
