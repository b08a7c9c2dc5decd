-- Locks this parent's events until the commit, so that no other change under this parent gets an event id in the
-- meantime. Returns a time later than the parent's newest event, in units of 1/4096 ms since 1970.
create or replace function event_tick(of_account uuid) returns bigint language plpgsql volatile as $$
declare
  newest uuid;
begin
  perform pg_advisory_xact_lock(hashtextextended('event ' || of_account::text, 0));
  -- This query's snapshot is newer than the lock. The query compares pairs so that PostgreSQL scans a range of
  -- `event_of_account`; otherwise, PostgreSQL might scan the primary key.
  select e.id into newest from event e
    where e.account_id >= of_account and (e.account_id, e.id) <= (of_account, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
    order by e.account_id desc, e.id desc limit 1;
  return greatest(floor(extract(epoch from clock_timestamp()) * 4096000)::bigint, event_tick_of(newest) + 1);
end $$;
