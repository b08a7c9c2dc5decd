-- Adds up hours from before the triggers into days, about `most` rows of hours, and returns whether there is more to
-- do. Only one caller at a time works. Counts that the triggers have added to these days meanwhile are in the hours,
-- too, so each day is set to the sum of its hours.
create or replace function usage_roll_up(most int) returns boolean language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  last_id constant uuid := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
  done usage_kept;
  until usage_kept;
begin
  select k.* into done from usage_kept k;
  if done.account_id = last_id or not pg_try_advisory_xact_lock(7311970459) then
    return false;
  end if;
  perform usage_daily_lock();
  -- This statement uses a later snapshot than the locks, so it sees a batch whole or not at all.
  select k.* into done from usage_kept k;
  until := done;
  select h.root_id, h.account_id, usage_day_of(h.hour) into until.root_id, until.account_id, until.day from usage_hourly h
    where (h.root_id, h.account_id, h.hour) >= (done.root_id, done.account_id, done.day::timestamp at time zone 'UTC')
    order by h.root_id, h.account_id, h.hour, h.key_id offset most limit 1;
  if not found then
    until.root_id := last_id;
    until.account_id := last_id;
    until.day := '-infinity';
  elsif (until.root_id, until.account_id, until.day) = (done.root_id, done.account_id, done.day) then
    -- One day has more rows than `most`.
    until.day := until.day + 1;
  end if;
  insert into usage_daily as d
    select h.root_id, h.account_id, usage_day_of(h.hour), h.key_id, sum(h.requests), sum(h.reads), sum(h.writes),
      sum(h.client_errors), sum(h.server_errors), sum(h.bytes_in), sum(h.bytes_out)
    from usage_hourly h
    where (h.root_id, h.account_id, h.hour) >= (done.root_id, done.account_id, done.day::timestamp at time zone 'UTC')
      and (h.root_id, h.account_id, h.hour) < (until.root_id, until.account_id, until.day::timestamp at time zone 'UTC')
    group by 1, 2, 3, 4
  on conflict (root_id, account_id, day, key_id) do update set
    requests = excluded.requests, reads = excluded.reads, writes = excluded.writes, client_errors = excluded.client_errors,
    server_errors = excluded.server_errors, bytes_in = excluded.bytes_in, bytes_out = excluded.bytes_out;
  update usage_kept k set root_id = until.root_id, account_id = until.account_id, day = until.day;
  return until.account_id <> last_id;
end $$;
