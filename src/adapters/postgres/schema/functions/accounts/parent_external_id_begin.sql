-- Lets only one change at a time set a parent's external_id; otherwise, two changes that swap the external_ids of two
-- parents would deadlock. A change calls this before it locks any row. If `wanted` is not null, fails while a replica
-- of 0.1.0 is registered, because such a replica does not send a parent's external_id to upstreams.
create or replace function parent_external_id_begin(wanted text) returns void language plpgsql as $$
begin
  if wanted is not null then
    perform fleet_require(2);
  end if;
  perform pg_advisory_xact_lock(7311970455);
end $$;
