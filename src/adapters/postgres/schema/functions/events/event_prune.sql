-- Deletes up to `most` events, oldest first, and returns how many were deleted. An event is deleted only if it is from
-- before `before`, a time by the caller's clock, and is also more than `days` days old by the database's clock. So if
-- only one of the two clocks jumps, no event is deleted too early. Only one caller at a time deletes; the others return
-- 0.
create or replace function event_prune(before timestamptz, days int, most int) returns int language plpgsql as $$
declare
  deleted int;
begin
  if not pg_try_advisory_xact_lock(7311970456) then
    return 0;
  end if;
  -- If a crash undoes this commit, a later call deletes the events again.
  perform set_config('synchronous_commit', 'off', true);
  perform set_config('tenancy_gateway.event_retention', 'on', true);
  delete from event where ctid = any (array(
    select e.ctid from event e
    where e.id < event_floor(least(before, clock_timestamp() - make_interval(hours => 24 * days))) order by e.id limit most
  ));
  get diagnostics deleted = row_count;
  perform set_config('tenancy_gateway.event_retention', 'off', true);
  return deleted;
end $$;
