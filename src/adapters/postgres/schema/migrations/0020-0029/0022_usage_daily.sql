-- compatible with: 4
-- locks for a moment: usage_hourly
-- Usage by the day, so that reports over months read a thirtieth of the rows, and hours need not be kept for ever.
--
-- Triggers keep the days exact: they add what a statement changed in the hours, in its own transaction, whichever function and
-- whichever version of the gateway makes it. Every statement sees days and hours that agree.
--
-- Rows of hours that were there before are added up in portions (`usage_roll_up`), while everything runs. How far that has come is
-- in `usage_kept`, in the same snapshot: a report reads hours where days are not there yet.

create table usage_daily (
  -- As in `usage_hourly`.
  root_id uuid not null,
  account_id uuid not null,
  -- UTC
  day date not null,
  key_id uuid not null,
  -- Without checks: what was changed by hand must not keep usage from being added. `usage_reconcile` finds it.
  requests bigint not null,
  reads bigint not null,
  writes bigint not null,
  client_errors bigint not null,
  server_errors bigint not null,
  bytes_in bigint not null,
  bytes_out bigint not null,
  primary key (root_id, account_id, day, key_id)
) with (fillfactor = 80);
create index usage_daily_by_day on usage_daily (day);

-- One row: what there is of usage.
create table usage_kept (
  one boolean primary key default true check (one),
  -- Hours from before were deleted; their days are there.
  hours_from timestamptz(0) not null default '-infinity',
  -- Days from before were deleted.
  days_from date not null default '-infinity',
  -- The days of accounts before this one, and its own days before this one, hold all that the hours do. The order is that of
  -- the primary keys; the last of all UUIDs says that it is so everywhere.
  root_id uuid not null,
  account_id uuid not null,
  day date not null default '-infinity'
);

-- The same lock for each writer of `usage_daily`, from its first row to its commit. Without it two batches could each wait for
-- a day that the other has: the rows that a batch inserts and those that it updates come to the trigger one after the other,
-- so no order of rows is the same in both. It is taken after the rows of hours, and nothing waits for those under it.
create function usage_daily_lock() returns void language sql volatile as $$
  select pg_advisory_xact_lock(7311970458)
$$;

create function usage_day_of(hour timestamptz) returns date language sql immutable as $$
  select (hour at time zone 'UTC')::date
$$;

create function usage_hourly_changed() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    -- `insert … on conflict do update` comes here twice, and often with nothing to insert or to update.
    if not exists (select from added) then
      return null;
    end if;
    perform usage_daily_lock();
    insert into usage_daily as d
      select h.root_id, h.account_id, usage_day_of(h.hour), h.key_id, sum(h.requests), sum(h.reads), sum(h.writes),
        sum(h.client_errors), sum(h.server_errors), sum(h.bytes_in), sum(h.bytes_out)
      from added h group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (root_id, account_id, day, key_id) do update set
      requests = d.requests + excluded.requests, reads = d.reads + excluded.reads, writes = d.writes + excluded.writes,
      client_errors = d.client_errors + excluded.client_errors, server_errors = d.server_errors + excluded.server_errors,
      bytes_in = d.bytes_in + excluded.bytes_in, bytes_out = d.bytes_out + excluded.bytes_out;
  elsif tg_op = 'UPDATE' then
    if not exists (select from added) then
      return null;
    end if;
    perform usage_daily_lock();
    insert into usage_daily as d
      select h.root_id, h.account_id, usage_day_of(h.hour), h.key_id, sum(h.requests), sum(h.reads), sum(h.writes),
        sum(h.client_errors), sum(h.server_errors), sum(h.bytes_in), sum(h.bytes_out)
      from (
        select n.root_id, n.account_id, n.hour, n.key_id, n.requests, n.reads, n.writes, n.client_errors, n.server_errors,
          n.bytes_in, n.bytes_out from added n
        union all
        select o.root_id, o.account_id, o.hour, o.key_id, -o.requests, -o.reads, -o.writes, -o.client_errors,
          -o.server_errors, -o.bytes_in, -o.bytes_out from removed o
      ) h
      group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (root_id, account_id, day, key_id) do update set
      requests = d.requests + excluded.requests, reads = d.reads + excluded.reads, writes = d.writes + excluded.writes,
      client_errors = d.client_errors + excluded.client_errors, server_errors = d.server_errors + excluded.server_errors,
      bytes_in = d.bytes_in + excluded.bytes_in, bytes_out = d.bytes_out + excluded.bytes_out;
  -- Of hours that retention deletes, the days stay.
  elsif current_setting('tenancy_gateway.usage_retention', true) is distinct from 'on' then
    if not exists (select from removed) then
      return null;
    end if;
    perform usage_daily_lock();
    update usage_daily d set
      requests = d.requests - h.requests, reads = d.reads - h.reads, writes = d.writes - h.writes,
      client_errors = d.client_errors - h.client_errors, server_errors = d.server_errors - h.server_errors,
      bytes_in = d.bytes_in - h.bytes_in, bytes_out = d.bytes_out - h.bytes_out
    from (
      select o.root_id, o.account_id, usage_day_of(o.hour) as day, o.key_id, sum(o.requests) as requests,
        sum(o.reads) as reads, sum(o.writes) as writes, sum(o.client_errors) as client_errors,
        sum(o.server_errors) as server_errors, sum(o.bytes_in) as bytes_in, sum(o.bytes_out) as bytes_out
      from removed o group by 1, 2, 3, 4
    ) h
    where (d.root_id, d.account_id, d.day, d.key_id) = (h.root_id, h.account_id, h.day, h.key_id);
    delete from usage_daily d
      using (select distinct o.root_id, o.account_id, usage_day_of(o.hour) as day, o.key_id from removed o) h
      where (d.root_id, d.account_id, d.day, d.key_id) = (h.root_id, h.account_id, h.day, h.key_id)
        and (d.requests, d.reads, d.writes, d.client_errors, d.server_errors, d.bytes_in, d.bytes_out) = (0, 0, 0, 0, 0, 0, 0);
  end if;
  return null;
end $$;

create trigger usage_hourly_inserted after insert on usage_hourly referencing new table as added
  for each statement execute function usage_hourly_changed();
create trigger usage_hourly_updated after update on usage_hourly referencing new table as added old table as removed
  for each statement execute function usage_hourly_changed();
create trigger usage_hourly_deleted after delete on usage_hourly referencing old table as removed
  for each statement execute function usage_hourly_changed();

-- From here on, until this step is committed, there are no writers of `usage_hourly`.
insert into usage_kept (root_id, account_id) select id, id from (
  select case when exists (select from usage_hourly) then '00000000-0000-0000-0000-000000000000'
    else 'ffffffff-ffff-ffff-ffff-ffffffffffff' end::uuid
) first (id);

-- Adds up days of hours that were there before the triggers, about `most` rows of them, and returns whether there is more to do.
-- One caller at a time works. What the triggers have added to these days meanwhile is in the hours, too: a day is set to their sum.
create function usage_roll_up(most int) returns boolean language plpgsql
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
  -- In a later snapshot than the locks: every batch that has them behind it is seen whole, and every other one not at all.
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
    -- More rows than that in one day.
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

-- Until when hours are needed for an account, beginning with `first`, where its days are not there yet: `last` is the day after the
-- days that are asked for.
create function usage_days_until(kept usage_kept, root uuid, account uuid, first date, last date) returns date
language sql immutable as $$
  select case
    when (root, account) < (kept.root_id, kept.account_id) then last
    when (root, account) > (kept.root_id, kept.account_id) then first
    else greatest(first, least(last, kept.day))
  end
$$;
