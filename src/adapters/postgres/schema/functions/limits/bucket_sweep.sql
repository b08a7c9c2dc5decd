-- Deletes up to 500 rows of full buckets in a random sample of about half a megabyte. So a call is short however large
-- the table is. Rows that a replica is writing stay. A bucket without a row is full.
create or replace function bucket_sweep() returns void language sql set enable_seqscan = off set jit = off as $$
  delete from limit_bucket where ctid = any (array(
    select b.ctid from limit_bucket b
      tablesample system (least(100, 5e7 / greatest(1, pg_relation_size('limit_bucket'))))
      where b.full_at < now() limit 500 for update skip locked
  ))
$$;
