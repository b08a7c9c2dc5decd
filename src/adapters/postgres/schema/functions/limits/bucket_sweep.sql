-- Deletes the rows of full buckets, except rows that a replica is writing. A bucket without a row is full.
create or replace function bucket_sweep() returns void language sql as $$
  delete from limit_bucket b using (
    select f.limit_name from limit_bucket f where f.full_at < now() for update skip locked
  ) full_one
  where b.limit_name = full_one.limit_name
$$;
