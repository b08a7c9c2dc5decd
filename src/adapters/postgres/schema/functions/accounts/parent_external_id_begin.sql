-- Makes changes of parents' external_ids take turns: two parents that exchange theirs would wait for each other for
-- ever. A change calls this before it locks any row. Replicas of 0.1.0 do not send a parent's external_id to
-- upstreams, so none may be given while one is registered.
create or replace function parent_external_id_begin(wanted text) returns void language plpgsql as $$
begin
  if wanted is not null then
    perform fleet_require(2);
  end if;
  perform pg_advisory_xact_lock(7311970455);
end $$;
