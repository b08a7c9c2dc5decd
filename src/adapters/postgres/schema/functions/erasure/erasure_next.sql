-- Locks and returns the erasure whose turn it is: of those that have been deleted for `settled`, the first one. Returns
-- null if there is none. Erasures that may have to wait for replicas (`erase_log`) come last, and those that have begun
-- to wait after all others. The settings make PostgreSQL read the order from an index, because it would otherwise sort
-- all pending erasures for each batch.
create or replace function erasure_next(settled interval) returns erasure language sql
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off as $$
  select * from erasure j where j.erased_at is null and j.deleted_at <= clock_timestamp() - settled
    order by j.step = 'log', j.at_position is not null, j.deleted_at limit 1 for update
$$;
