-- compatible with: 4
-- What replicas tell each other of limits by the second, where there is no Redis for it, and what is used of limits by the month.

-- The last report of each replica on each limit in use. Unlogged: a crash empties it, and replicas fill it again with what they
-- report next. Each replica writes rows of its own, so none waits for another.
create unlogged table limit_report (
  limit_name text collate "C" not null,
  replica text collate "C" not null,
  at timestamptz not null,
  series bigint not null,
  used bigint not null,
  demand double precision not null,
  level double precision not null,
  share double precision not null,
  primary key (limit_name, replica)
) with (fillfactor = 50);

-- Replaces the reports of a replica, and returns those that the others gave of the same limits, and the time.
-- A session plans these statements once, perhaps while the table is empty: they go by the index all the same.
create function limit_exchange(of_replica text, reports jsonb) returns jsonb language plpgsql
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
  -- Now and then, since it reads the whole table, which holds what was in use in the last minutes.
  if random() < 0.005 then
    delete from limit_report r where r.at < present - interval '2 minutes';
  end if;
  return jsonb_build_object('nowMs', extract(epoch from present) * 1000, 'peers', coalesce(peers, '[]'));
end $$;

-- Requests of a month (UTC) over all replicas. `quota` is the limit as a replica last knew it; `near_at` is when it was last
-- added to, of those that are near their end.
create table limit_month (
  month timestamptz(0) not null constraint limit_month_start check (date_trunc('month', month, 'UTC') = month),
  limit_name text collate "C" not null,
  used bigint not null check (used >= 0),
  quota bigint not null,
  near_at timestamptz,
  primary key (month, limit_name)
) with (fillfactor = 50);
create index limit_month_near on limit_month (near_at) where near_at is not null;

-- Whether all replicas hear of it: near its end, or small. The same as in `src/ports/limits/month-totals.ts`.
create function limit_near(used bigint, quota bigint) returns boolean language sql immutable as $$
  select used >= 0.9 * quota or quota <= 1000
$$;

-- The last batch that each replica has added.
create table limit_month_batch (
  replica text collate "C" primary key,
  batch bigint not null,
  at timestamptz not null default now()
);
create index limit_month_batch_at on limit_month_batch (at);

-- Adds a batch, once. Returns the time, the totals of what is in the batch, and those of the present month's limits near their
-- end that were added to since then. The month before is kept for replicas that come late.
create function limit_month_add(of_replica text, of_batch bigint, additions jsonb, since timestamptz) returns jsonb
language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  this_month constant timestamptz := date_trunc('month', now(), 'UTC');
  totals jsonb;
begin
  if additions <> '[]' then
    insert into limit_month_batch as b (replica, batch) values (of_replica, of_batch)
      on conflict (replica) do update set batch = excluded.batch, at = now() where b.batch < excluded.batch;
    if found then
      -- In one order everywhere, so that two replicas adding to the same rows queue up instead of deadlocking.
      insert into limit_month as m (month, limit_name, used, quota, near_at)
        select to_timestamp(g."monthMs" / 1000), g."limit", g.requests, g.quota,
          case when limit_near(g.requests, g.quota) then clock_timestamp() end
        from jsonb_to_recordset(additions) g ("limit" text, "monthMs" double precision, requests bigint, quota bigint)
        order by 1, 2
      on conflict (month, limit_name) do update set
        used = m.used + excluded.used, quota = excluded.quota,
        near_at = case when limit_near(m.used + excluded.used, excluded.quota) then clock_timestamp() end;
    end if;
    delete from limit_month m where m.month < this_month - interval '1 month';
    delete from limit_month_batch b where b.at < now() - interval '2 days';
  end if;
  select jsonb_agg(jsonb_build_object(
      'limit', m.limit_name, 'monthMs', extract(epoch from m.month) * 1000, 'used', m.used
    )) into totals
    from (
      select n.month, n.limit_name, n.used from jsonb_array_elements(additions) g
        join limit_month n on n.month = to_timestamp((g ->> 'monthMs')::double precision / 1000) and n.limit_name = g ->> 'limit'
      union
      (select n.month, n.limit_name, n.used from limit_month n
        where n.near_at >= since and n.month = this_month order by n.near_at desc limit 1000000)
    ) m;
  return jsonb_build_object(
    'nowMs', extract(epoch from clock_timestamp()) * 1000, 'totals', coalesce(totals, '[]')
  );
end $$;
