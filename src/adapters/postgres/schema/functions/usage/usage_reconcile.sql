-- Returns the days of some accounts that differ from the sum of their hours, from `first` to before `last`: requests,
-- reads, writes, client errors, server errors, bytes in and bytes out by hours and by days, null if there are none.
-- With `mend` the days are set to the sum; days without hours are deleted. `accounts` is an array of objects with
-- `root_id` and `account_id`.
create or replace function usage_reconcile(accounts jsonb, first date, last date, mend boolean)
returns table (root_id uuid, account_id uuid, day date, key_id uuid, by_hours bigint[], by_days bigint[])
language plpgsql set enable_seqscan = off as $$
#variable_conflict use_column
declare
  found_one record;
begin
  if mend then
    perform usage_daily_lock();
  end if;
  -- This uses a later snapshot than the lock.
  for found_one in
    select s.root_id, s.account_id, x.day, x.key_id, x.by_hours, x.by_days
    from jsonb_to_recordset(accounts) s (root_id uuid, account_id uuid)
      cross join lateral (
        select day, key_id, h.counts as by_hours, d.counts as by_days
        from (
          select usage_day_of(u.hour) as day, u.key_id, array[sum(u.requests), sum(u.reads), sum(u.writes),
            sum(u.client_errors), sum(u.server_errors), sum(u.bytes_in), sum(u.bytes_out)]::bigint[] as counts
          from usage_hourly u
          where u.root_id = s.root_id and u.account_id = s.account_id
            and u.hour >= first::timestamp at time zone 'UTC' and u.hour < last::timestamp at time zone 'UTC'
          group by 1, 2
        ) h full join (
          select u.day, u.key_id, array[u.requests, u.reads, u.writes, u.client_errors, u.server_errors, u.bytes_in,
            u.bytes_out] as counts
          from usage_daily u
          where u.root_id = s.root_id and u.account_id = s.account_id and u.day >= first and u.day < last
        ) d using (day, key_id)
        where h.counts is distinct from d.counts
        offset 0
      ) x
    order by 2 desc, 3, 4
  loop
    if mend and found_one.by_hours is null then
      delete from usage_daily d where (d.root_id, d.account_id, d.day, d.key_id)
        = (found_one.root_id, found_one.account_id, found_one.day, found_one.key_id);
    elsif mend then
      insert into usage_daily values (found_one.root_id, found_one.account_id, found_one.day, found_one.key_id,
        found_one.by_hours[1], found_one.by_hours[2], found_one.by_hours[3], found_one.by_hours[4],
        found_one.by_hours[5], found_one.by_hours[6], found_one.by_hours[7])
      on conflict (root_id, account_id, day, key_id) do update set requests = excluded.requests, reads = excluded.reads,
        writes = excluded.writes, client_errors = excluded.client_errors, server_errors = excluded.server_errors,
        bytes_in = excluded.bytes_in, bytes_out = excluded.bytes_out;
    end if;
    return query select found_one.root_id, found_one.account_id, found_one.day, found_one.key_id, found_one.by_hours,
      found_one.by_days;
  end loop;
end $$;
