-- compatible with: 4
-- locks for a moment: limit_month
-- Which quotas are near their end follows the limit as it was last changed, and is read in pages.

-- What the quota was changed to in this month, `null` where it was not. What replicas say of it counts no more then: one that
-- lets nothing through under the new quota may still add, late, what it let through under the old one, and say that.
alter table limit_month add column changed_to bigint;

-- What the change of a quota does to its month. `new_quota` is `null` for none any more.
create function limit_month_change(of_limit text, new_quota bigint) returns void language sql as $$
  insert into limit_month as m (month, limit_name, used, quota, changed_to, near_at)
    select date_trunc('month', clock_timestamp(), 'UTC'), of_limit, 0, new_quota, new_quota,
      case when limit_near(0, new_quota) then clock_timestamp() end
    where new_quota is not null
  on conflict (month, limit_name) do update set
    quota = excluded.quota, changed_to = excluded.changed_to,
    near_at = case when limit_near(m.used, excluded.quota) then clock_timestamp() end;
  -- It may be set again in this month, and what was used counts then. Until then replicas need not hear of it.
  update limit_month m set changed_to = null, near_at = null
    where new_quota is null and m.limit_name = of_limit and m.month = date_trunc('month', clock_timestamp(), 'UTC');
$$;

-- The rows of an account's quota change in the transaction of the account: a replica that reads them after it was told of the
-- change hears what is used of the new quota. `0032_quota_changes.sql` makes the trigger.
create function account_quota_changed() returns trigger language plpgsql as $$
begin
  perform limit_month_change(
    case when new.parent_id is null then 'parent:' else 'sub_account:' end || new.id, new.requests_per_month
  );
  return null;
end $$;

-- Adds a batch, once. As in 0026, but for quotas that were changed.
create function limit_month_note(of_replica text, of_batch bigint, additions jsonb) returns void
language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  if additions = '[]' then
    return;
  end if;
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
      used = m.used + excluded.used, quota = coalesce(m.changed_to, excluded.quota),
      near_at = case
        when limit_near(m.used + excluded.used, coalesce(m.changed_to, excluded.quota)) then clock_timestamp()
      end;
  end if;
  delete from limit_month m where m.month < date_trunc('month', now(), 'UTC') - interval '1 month';
  delete from limit_month_batch b where b.at < now() - interval '2 days';
end $$;

-- The totals of what is in a batch, for an answer in JSON.
create function limit_month_totals(additions jsonb) returns jsonb language sql stable
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
  select coalesce(jsonb_agg(jsonb_build_object(
      'limit', m.limit_name, 'monthMs', extract(epoch from m.month) * 1000, 'used', m.used
    )), '[]')
    from jsonb_array_elements(additions) g
    join limit_month m on m.month = to_timestamp((g ->> 'monthMs')::double precision / 1000)
      and m.limit_name = g ->> 'limit'
$$;

-- Adds a batch, once. Returns the time, the totals of what is in the batch, and a page of those of the present month's limits
-- near their end: at most `most` of those that were added to or changed after `after`, in that order, and what the next page is
-- after (`null` where this is the last). `after` is `{"at", "limit"}`, of which the first page has no `limit`.
create function limit_month_exchange(of_replica text, of_batch bigint, additions jsonb, after jsonb, most int) returns jsonb
language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  this_month constant timestamptz := date_trunc('month', clock_timestamp(), 'UTC');
  -- What is near was added to or changed in its month, but for replicas whose clock is ahead. Rows of the month before are many.
  since constant timestamptz := greatest((after ->> 'at')::timestamptz, this_month - interval '1 minute');
  present timestamptz;
  near jsonb;
  rows_read bigint;
  last_row jsonb;
begin
  perform limit_month_note(of_replica, of_batch, additions);
  -- Before the page is read: the next round begins there.
  present := clock_timestamp();
  select jsonb_agg(jsonb_build_object('limit', p.limit_name, 'monthMs', extract(epoch from p.month) * 1000, 'used', p.used)),
      count(*), (array_agg(jsonb_build_object('at', p.near_at, 'limit', p.limit_name) order by p.near_at desc, p.limit_name desc))[1]
    into near, rows_read, last_row
    from (
      select n.month, n.limit_name, n.used, n.near_at from limit_month n
        where n.near_at >= since and (n.near_at, n.limit_name) > (since, coalesce(after ->> 'limit', ''))
          and n.month = this_month
        order by n.near_at, n.limit_name limit most
    ) p;
  return jsonb_build_object(
    'nowMs', extract(epoch from present) * 1000,
    'totals', limit_month_totals(additions) || coalesce(near, '[]'),
    'next', case when rows_read = most then last_row end
  );
end $$;

-- For replicas of the version before. As in 0026, but for quotas that were changed.
create or replace function limit_month_add(of_replica text, of_batch bigint, additions jsonb, since timestamptz) returns jsonb
language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  this_month constant timestamptz := date_trunc('month', now(), 'UTC');
  near jsonb;
begin
  perform limit_month_note(of_replica, of_batch, additions);
  select jsonb_agg(jsonb_build_object(
      'limit', m.limit_name, 'monthMs', extract(epoch from m.month) * 1000, 'used', m.used
    )) into near
    from (
      select n.month, n.limit_name, n.used from limit_month n
        where n.near_at >= since and n.month = this_month order by n.near_at desc limit 1000000
    ) m;
  return jsonb_build_object(
    'nowMs', extract(epoch from clock_timestamp()) * 1000,
    'totals', limit_month_totals(additions) || coalesce(near, '[]')
  );
end $$;

-- As in 0026, but for the sweep: it passes over rows that their replicas are writing, which would wait for each other.
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
  -- Now and then, since it reads the whole table, which holds what was in use in the last minutes.
  if random() < 0.005 then
    perform limit_report_sweep(present - interval '2 minutes');
  end if;
  return jsonb_build_object('nowMs', extract(epoch from present) * 1000, 'peers', coalesce(peers, '[]'));
end $$;

-- Deletes the reports from before then that no replica is writing right now.
create function limit_report_sweep(before timestamptz) returns void language sql as $$
  delete from limit_report r using (
    select o.limit_name, o.replica from limit_report o where o.at < before for update skip locked
  ) old
  where r.limit_name = old.limit_name and r.replica = old.replica
$$;
