-- Deletes quota windows that began before this month: up to 500 rows of each table, in a random sample of about half a
-- megabyte. Rows that a replica is writing stay. An index would find the rows at once, but each call would also pass
-- all rows that earlier calls have deleted while an old snapshot keeps them.
create or replace function quota_sweep() returns void language sql set enable_seqscan = off set jit = off as $$
  delete from limit_hold where ctid = any (array(
    select h.ctid from limit_hold h
      tablesample system (least(100, 5e7 / greatest(1, pg_relation_size('limit_hold'))))
      where h.starts_at < date_trunc('month', now(), 'UTC') limit 500 for update skip locked
  ));
  delete from limit_quota where ctid = any (array(
    select q.ctid from limit_quota q
      tablesample system (least(100, 5e7 / greatest(1, pg_relation_size('limit_quota'))))
      where q.starts_at < date_trunc('month', now(), 'UTC') limit 500 for update skip locked
  ));
$$;
