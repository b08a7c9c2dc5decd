-- compatible with: 4
-- Usage is exported to a billing system hour by hour. An hour is closed before it is read for that: what is added to it, or taken
-- from it, afterwards is noted beside it. So an hour is exported with the same counts however often, and what came late goes
-- out as a correction of its own, which does not change either. New tables, and a function in place of one: no table is locked.

-- One row: how far the export has got. Until it has begun nothing is closed.
create table usage_export (
  one boolean primary key default true check (one),
  -- Hours from before are closed.
  closed_until timestamptz(0) not null default '-infinity',
  -- The first hour that is exported without being asked for.
  began timestamptz(0),
  -- The next hour to export, and the account after which to go on in it; null at its beginning.
  hour timestamptz(0),
  after_account uuid,
  -- Corrections up to this number are out.
  corrections bigint not null default 0,
  -- The replica whose turn it is, and until when.
  holder uuid,
  held_until timestamptz not null default '-infinity'
);
insert into usage_export default values;

create sequence usage_late_number;

-- What came to a closed hour late. Counts may be negative, where something was taken from it.
create table usage_late (
  root_id uuid not null,
  account_id uuid not null,
  hour timestamptz(0) not null,
  -- 0 while more may be added to the row; then its place among the corrections, and it does not change any more.
  number bigint not null default 0,
  -- Names the correction. Not its number: those come again when a backup is brought back.
  id uuid not null default gen_random_uuid(),
  requests bigint not null,
  reads bigint not null,
  writes bigint not null,
  client_errors bigint not null,
  server_errors bigint not null,
  bytes_in bigint not null,
  bytes_out bigint not null,
  primary key (account_id, hour, number)
);
create unique index usage_late_by_number on usage_late (number) where number > 0;

-- Notes changes of closed hours. `changes` is an array of rows of `usage_hourly`, `sign` 1 where they came and -1 where they went.
create function usage_note_late(changes jsonb, sign int) returns void language sql volatile as $$
  insert into usage_late as l (root_id, account_id, hour, requests, reads, writes, client_errors, server_errors, bytes_in, bytes_out)
    select c.root_id, c.account_id, c.hour, sign * sum(c.requests), sign * sum(c.reads), sign * sum(c.writes),
      sign * sum(c.client_errors), sign * sum(c.server_errors), sign * sum(c.bytes_in), sign * sum(c.bytes_out)
    from jsonb_populate_recordset(null::usage_hourly, changes) c group by 1, 2, 3 order by 1, 2, 3
  on conflict (account_id, hour, number) do update set
    requests = l.requests + excluded.requests, reads = l.reads + excluded.reads, writes = l.writes + excluded.writes,
    client_errors = l.client_errors + excluded.client_errors, server_errors = l.server_errors + excluded.server_errors,
    bytes_in = l.bytes_in + excluded.bytes_in, bytes_out = l.bytes_out + excluded.bytes_out
$$;

-- As before (0022_usage_daily.sql), and notes what comes to closed hours. Whether an hour is closed is read under the lock under
-- which hours are closed: a batch is in its hours before they are closed and exported, or is seen here to be late.
create or replace function usage_hourly_changed() returns trigger language plpgsql as $$
declare
  closed timestamptz;
begin
  if tg_op = 'INSERT' then
    -- `insert … on conflict do update` comes here twice, and often with nothing to insert or to update.
    if not exists (select from added) then
      return null;
    end if;
    perform usage_daily_lock();
    select e.closed_until into closed from usage_export e;
    insert into usage_daily as d
      select h.root_id, h.account_id, usage_day_of(h.hour), h.key_id, sum(h.requests), sum(h.reads), sum(h.writes),
        sum(h.client_errors), sum(h.server_errors), sum(h.bytes_in), sum(h.bytes_out)
      from added h group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (root_id, account_id, day, key_id) do update set
      requests = d.requests + excluded.requests, reads = d.reads + excluded.reads, writes = d.writes + excluded.writes,
      client_errors = d.client_errors + excluded.client_errors, server_errors = d.server_errors + excluded.server_errors,
      bytes_in = d.bytes_in + excluded.bytes_in, bytes_out = d.bytes_out + excluded.bytes_out;
    if exists (select from added n where n.hour < closed) then
      perform usage_note_late((select jsonb_agg(to_jsonb(n)) from added n where n.hour < closed), 1);
    end if;
  elsif tg_op = 'UPDATE' then
    if not exists (select from added) then
      return null;
    end if;
    perform usage_daily_lock();
    select e.closed_until into closed from usage_export e;
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
    if exists (select from added n where n.hour < closed) then
      perform usage_note_late((select jsonb_agg(to_jsonb(n)) from added n where n.hour < closed), 1);
    end if;
    if exists (select from removed o where o.hour < closed) then
      perform usage_note_late((select jsonb_agg(to_jsonb(o)) from removed o where o.hour < closed), -1);
    end if;
  -- Of hours that retention deletes, the days stay.
  elsif current_setting('tenancy_gateway.usage_retention', true) is distinct from 'on' then
    if not exists (select from removed) then
      return null;
    end if;
    perform usage_daily_lock();
    select e.closed_until into closed from usage_export e;
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
    if exists (select from removed o where o.hour < closed) then
      perform usage_note_late((select jsonb_agg(to_jsonb(o)) from removed o where o.hour < closed), -1);
    end if;
  end if;
  return null;
end $$;

-- Takes the turn to export, or keeps it, for as long as `lease`, and closes the hours that are complete and have been over for
-- `settle`; what came late so far becomes corrections. Returns false where it is another replica's turn.
create function usage_export_begin(replica uuid, lease interval, settle interval, lost_after interval) returns boolean
language plpgsql as $$
declare
  ready timestamptz;
begin
  update usage_export e set holder = replica, held_until = clock_timestamp() + lease
    where e.holder = replica or e.held_until < clock_timestamp();
  if not found then
    return false;
  end if;
  select date_trunc('hour', least(c.through, clock_timestamp() - settle), 'UTC') into ready
    from usage_completeness(lost_after, now(), now()) c;
  if exists (select from usage_export e where e.began is null or e.closed_until < ready)
    or exists (select from usage_late l where l.number = 0)
  then
    perform usage_daily_lock();
    -- The first time, what was before is closed and not exported: a replay does that.
    update usage_export e set closed_until = greatest(e.closed_until, ready), began = coalesce(e.began, ready),
      hour = coalesce(e.hour, ready);
    delete from usage_late l where l.number = 0
      and (l.requests, l.reads, l.writes, l.client_errors, l.server_errors, l.bytes_in, l.bytes_out) = (0, 0, 0, 0, 0, 0, 0);
    update usage_late l set number = nextval('usage_late_number') where l.number = 0;
    delete from usage_late l using usage_export e, usage_kept k
      where l.number between 1 and e.corrections and l.hour < k.hours_from;
  end if;
  return true;
end $$;

-- What was counted for an account in a closed hour until it was closed; of the accounts after `after`, in the order of their ids.
create function usage_export_hour(of_hour timestamptz, after uuid, most int)
returns table (account_id uuid, root_id uuid, external_id text, counts bigint[]) language sql stable
set enable_seqscan = off as $$
  select a.id, a.root_id, a.external_id, u.counts
  from (
    select id, coalesce(parent_id, id) as root_id, external_id from account where id > after order by id limit most
  ) a
  cross join lateral (
    select array[sum(h.requests), sum(h.reads), sum(h.writes), sum(h.client_errors), sum(h.server_errors), sum(h.bytes_in),
      sum(h.bytes_out)]::bigint[] as counts
    from (
      select requests, reads, writes, client_errors, server_errors, bytes_in, bytes_out from usage_hourly
        where root_id = a.root_id and account_id = a.id and hour = of_hour
      union all
      select -requests, -reads, -writes, -client_errors, -server_errors, -bytes_in, -bytes_out from usage_late
        where account_id = a.id and hour = of_hour
    ) h
    offset 0
  ) u
  order by a.id
$$;
