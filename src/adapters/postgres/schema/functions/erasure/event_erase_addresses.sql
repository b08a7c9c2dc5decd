-- Erases the addresses in up to `most` events, oldest first, and returns how many events were looked at. As in
-- `event_prune`, an event must be from before `before`, a time by the caller's clock, and more than `days` days old by
-- the database's clock. Only one caller at a time erases; the others return 0.
create or replace function event_erase_addresses(before timestamptz, days int, most int) returns int
language plpgsql as $$
declare
  ids uuid[];
begin
  if not pg_try_advisory_xact_lock(7311970462) then
    return 0;
  end if;
  perform set_config('synchronous_commit', 'off', true);
  ids := array(
    select e.id from event e
    where e.id > (select a.erased_until from event_addresses a)
      and e.id < event_floor(least(before, clock_timestamp() - make_interval(hours => 24 * days)))
    order by e.id limit most
  );
  if cardinality(ids) > 0 then
    perform event_erase(array(select e.id from event e where e.id = any (ids) and e.address is not null), 'addresses');
    update event_addresses set erased_until = ids[cardinality(ids)];
  end if;
  return cardinality(ids);
end $$;
