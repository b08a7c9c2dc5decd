-- Adds a batch's sums to `usage_hourly`, with at most `keys_per_account_hour` keys for an account and hour
-- (`usage_share_keys`). Returns the written rows of past days and, in the ten minutes before midnight, of today. If a
-- row's day is rolled up before `usage_count` looks for late changes, `usage_note_late` needs the key of the row.
--
-- Every batch locks its hourly rows in the same order, so two replicas may wait for each other but cannot deadlock.
--
-- The statement counts the keys of an account and hour right before it writes their rows, so both steps find the same
-- pages of the index in memory. The settings make the count read the primary key in order, and not the index
-- `usage_hourly_of_root`, which mixes the rows of all accounts of a parent.
create or replace function usage_add_hours(added usage_hourly[], keys_per_account_hour int) returns usage_hourly[]
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off as $$
declare
  nil constant uuid := '00000000-0000-0000-0000-000000000000';
  past usage_hourly[];
begin
  with of_hour as (
    select s.root_id, s.account_id, s.hour, array_agg(s order by s.key_id) as rows from unnest(added) s
    group by 1, 2, 3 order by 1, 2, 3
  ), upserted as (
    insert into usage_hourly
    select r.* from of_hour s cross join lateral unnest(case
      when cardinality(s.rows) + (
        select count(*) from (
          select from usage_hourly h
          where h.root_id = s.root_id and h.account_id = s.account_id and h.hour = s.hour and h.key_id > nil
          order by h.key_id limit keys_per_account_hour
        ) h
      ) <= keys_per_account_hour then s.rows
      else usage_share_keys(s.rows, keys_per_account_hour)
    end) r
    on conflict (root_id, account_id, hour, key_id) do update set
      requests = usage_hourly.requests + excluded.requests,
      reads = usage_hourly.reads + excluded.reads,
      writes = usage_hourly.writes + excluded.writes,
      client_errors = usage_hourly.client_errors + excluded.client_errors,
      server_errors = usage_hourly.server_errors + excluded.server_errors,
      bytes_in = usage_hourly.bytes_in + excluded.bytes_in,
      bytes_out = usage_hourly.bytes_out + excluded.bytes_out,
      units = units_sum(usage_hourly.units + excluded.units)
    returning usage_hourly.*
  )
  select array_agg(row(u.*)::usage_hourly) into past from upserted u
    where u.hour < date_trunc('day', clock_timestamp() + interval '10 minutes', 'UTC');
  return past;
end $$;
