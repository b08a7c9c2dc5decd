-- Lets only one change at a time set a parent's external_id; otherwise, two changes that swap the external_ids of two
-- parents would deadlock. A change calls this before it locks any row.
create or replace function parent_external_id_lock() returns void language sql volatile as $$
  select pg_advisory_xact_lock(7311970455)
$$;
