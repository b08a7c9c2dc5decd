-- Rolls up the hourly rows of past, complete days into daily rows. A call stops after about `most` hourly rows. Returns
-- whether there is more to do. The function goes through accounts in primary key order. For each account, it rolls up
-- the days from `rolled_until` (inclusive) to `rolling_until` (exclusive). Only one caller at a time does the work; the rest get false.
create or replace function usage_roll_up(most int) returns boolean language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  nil constant uuid := '00000000-0000-0000-0000-000000000000';
  kept usage_kept;
  ready date;
  rows_read bigint := 0;
begin
  if not pg_try_advisory_xact_lock(7311970459) then
    return false;
  end if;
  select k.* into kept from usage_kept k;
  if kept.rolling_until = kept.rolled_until then
    select usage_day_of(c.through) into ready from usage_completeness('1 day', now(), now()) c;
    if ready <= kept.rolled_until then
      return false;
    end if;
    if not usage_fence() then
      return false;
    end if;
    update usage_kept k set rolling_until = ready;
    return true;
  end if;
  perform usage_late_lock();
  -- Each account takes two index look-ups. They cost about as much as reading five rows, so an account counts as five
  -- rows in addition to its own rows.
  while rows_read < most loop
    select h.root_id, h.account_id into kept.root_id, kept.account_id from usage_hourly h
      where (h.root_id, h.account_id) > (kept.root_id, kept.account_id) order by h.root_id, h.account_id limit 1;
    if not found then
      update usage_kept k set rolled_until = k.rolling_until, root_id = nil, account_id = nil;
      return false;
    end if;
    with of_day as (
      select usage_day_of(h.hour) as day, h.key_id, count(*) as n, sum(h.requests) as requests, sum(h.reads) as reads,
        sum(h.writes) as writes, sum(h.client_errors) as client_errors, sum(h.server_errors) as server_errors,
        sum(h.bytes_in) as bytes_in, sum(h.bytes_out) as bytes_out, units_sum(sum(h.units)) as units
      from usage_hourly h
      where h.root_id = kept.root_id and h.account_id = kept.account_id
        and h.hour >= kept.rolled_until::timestamp at time zone 'UTC'
        and h.hour < kept.rolling_until::timestamp at time zone 'UTC'
      group by 1, 2
    ), written as (
      insert into usage_daily
        select kept.root_id, kept.account_id, d.day, d.key_id, d.requests, d.reads, d.writes, d.client_errors,
          d.server_errors, d.bytes_in, d.bytes_out, d.units from of_day d
      on conflict (root_id, account_id, day, key_id) do update set
        requests = excluded.requests, reads = excluded.reads, writes = excluded.writes,
        client_errors = excluded.client_errors, server_errors = excluded.server_errors,
        bytes_in = excluded.bytes_in, bytes_out = excluded.bytes_out, units = excluded.units
    )
    select rows_read + 5 + coalesce(sum(n), 0) into rows_read from of_day;
  end loop;
  update usage_kept k set root_id = kept.root_id, account_id = kept.account_id;
  return true;
end $$;
