-- Deletes up to `most` events, oldest first, and up to `most` keys that ended as long ago. Returns how many events were
-- deleted, and whether there may be more to delete. An event is deleted only if it is from before `before`, a time by the
-- caller's clock, and is also more than `days` days old by the database's clock. So if only one of the two clocks jumps,
-- nothing is deleted too early. The usage of a deleted key stays, under its id. Whoever still uses such a key is told that
-- it is unknown. Only one caller at a time deletes; the others return 0.
create or replace function event_prune(before timestamptz, days int, most int, out deleted int, out more boolean)
language plpgsql as $$
declare
  oldest constant timestamptz := least(before, clock_timestamp() - make_interval(hours => 24 * days));
  keys int;
begin
  if not pg_try_advisory_xact_lock(7311970456) then
    deleted := 0;
    more := false;
    return;
  end if;
  -- If a crash undoes this commit, a later call deletes the events again.
  perform set_config('synchronous_commit', 'off', true);
  perform set_config('tenancy_gateway.event_retention', 'on', true);
  delete from event where ctid = any (array(
    select e.ctid from event e
    where e.id < event_floor(oldest) order by e.id limit most
  ));
  get diagnostics deleted = row_count;
  perform set_config('tenancy_gateway.event_retention', 'off', true);
  delete from api_key where id = any (array(
    select k.id from api_key k where least(k.revoked_at, k.expires_at) < oldest
    order by least(k.revoked_at, k.expires_at) limit most for update skip locked
  ));
  get diagnostics keys = row_count;
  more := greatest(deleted, keys) = most;
end $$;
