-- Replaces the reports of a replica, and returns the other replicas' reports on the same limits, and the time. A
-- session plans these statements once, perhaps while the table is empty, so indexes are forced.
create or replace function limit_exchange(of_replica text, reports jsonb) returns jsonb language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  present constant timestamptz := clock_timestamp();
  peers jsonb;
begin
  insert into limit_report as r
    select g."limit", of_replica, present, g.series, g.used, g.demand, g.level, g.share
    from jsonb_to_recordset(reports)
      g ("limit" text, series bigint, used bigint, demand double precision, level double precision, share double precision)
  on conflict (limit_name, replica) do update set
    at = excluded.at, series = excluded.series, used = excluded.used, demand = excluded.demand, level = excluded.level,
    share = excluded.share;
  select jsonb_agg(jsonb_build_object(
      'limit', r.limit_name, 'replica', r.replica, 'series', r.series, 'used', r.used, 'demand', r.demand,
      'level', r.level, 'share', r.share,
      'ageMs', greatest(0, extract(epoch from present - r.at) * 1000)
    )) into peers
    from jsonb_array_elements(reports) g join limit_report r on r.limit_name = g ->> 'limit'
    where r.replica <> of_replica;
  -- The sweep runs seldom, since it reads the whole table, which holds the limits in use in the last minutes.
  if random() < 0.005 then
    perform limit_report_sweep(present - interval '2 minutes');
  end if;
  return jsonb_build_object('nowMs', extract(epoch from present) * 1000, 'peers', coalesce(peers, '[]'));
end $$;
