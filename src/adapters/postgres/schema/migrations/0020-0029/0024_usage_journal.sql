-- compatible with: 4
-- Usage comes in numbered rows: each process has a journal of its own, and its rows are added in their order. The store
-- remembers one number for each journal, up to which its rows are in, so that rows that are sent again change nothing: by
-- the process itself, or by the one that replays the journal it left behind.

create table usage_journal (
  id text primary key,
  -- The rows before this position are in.
  position bigint not null default 0,
  -- It has nothing from before this left to add; `infinity` once it has ended.
  through timestamptz not null,
  at timestamptz not null default now()
);

-- Names this store: a journal that was written for another one must not be replayed here.
create table usage_store (id uuid not null default gen_random_uuid());
insert into usage_store default values;

-- Adds counts, and notes when keys were last used. A row may hold what passed in an hour after that of its request: bytes,
-- or an outcome; one without any count only says that the key was used.
create function usage_count(counts jsonb) returns void language plpgsql as $$
begin
  -- In one order everywhere, so that two replicas adding to the same rows queue up instead of deadlocking.
  insert into usage_hourly
    select coalesce(a.parent_id, a.id), a.id, c.hour, c.key_id, sum(c.requests), sum(c.reads), sum(c.writes),
      sum(c.client_errors), sum(c.server_errors), sum(c.bytes_in), sum(c.bytes_out)
    from jsonb_to_recordset(counts) c (account_id uuid, key_id uuid, hour timestamptz, requests bigint, reads bigint,
      writes bigint, client_errors bigint, server_errors bigint, bytes_in bigint, bytes_out bigint)
    join account a on a.id = c.account_id
    where (c.requests, c.client_errors, c.server_errors, c.bytes_in, c.bytes_out) <> (0, 0, 0, 0, 0)
    group by 1, 2, 3, 4 order by 1, 2, 3, 4
  on conflict (root_id, account_id, hour, key_id) do update set
    requests = usage_hourly.requests + excluded.requests,
    reads = usage_hourly.reads + excluded.reads,
    writes = usage_hourly.writes + excluded.writes,
    client_errors = usage_hourly.client_errors + excluded.client_errors,
    server_errors = usage_hourly.server_errors + excluded.server_errors,
    bytes_in = usage_hourly.bytes_in + excluded.bytes_in,
    bytes_out = usage_hourly.bytes_out + excluded.bytes_out;

  -- Batches of 0.1.0 do not say when a key was used; of those an hour that is over counts by its end.
  with used as (
    select (c ->> 'key_id')::uuid as key_id, least(
      now(), max(coalesce((c ->> 'last_used')::timestamptz, (c ->> 'hour')::timestamptz + interval '1 hour'))
    ) as at
    from jsonb_array_elements(counts) c group by 1
  ), locked as materialized (
    select k.id, u.at from api_key k join used u on u.key_id = k.id
    where k.last_used_at is null or k.last_used_at < u.at - interval '30 seconds'
    order by k.id for no key update of k
  )
  update api_key k set last_used_at = l.at from locked l where k.id = l.id;
end $$;

-- Adds the rows of a journal from one position to another, if none of them is in, and returns up to where its rows are in
-- now. The lock on its row makes processes that send the same journal take turns.
create function usage_add_rows(
  journal text, from_position bigint, to_position bigint, counts jsonb, through_ms double precision
) returns table (rows_in bigint, now_ms double precision) language plpgsql as $$
declare
  known bigint;
begin
  insert into usage_journal (id, through) values (journal, coalesce(to_timestamp(through_ms / 1000), now()))
    on conflict (id) do update set at = now()
    returning position into known;
  if from_position >= known and to_position > known then
    perform usage_count(counts);
    known := to_position;
  end if;
  if to_position <= known then
    update usage_journal j set position = known, at = now(),
      through = greatest(j.through, coalesce(to_timestamp(through_ms / 1000), j.through))
      where j.id = journal;
  end if;
  delete from usage_journal j
    where j.at < now() - case when j.through = 'infinity' then interval '2 days' else interval '400 days' end;
  return query select known, extract(epoch from clock_timestamp())::double precision * 1000;
end $$;

-- For replicas of earlier versions: as before, but for where counts are added.
create or replace function usage_add(batch text, counts jsonb, replica text, through_ms double precision) returns void
language plpgsql as $$
declare
  is_new boolean := false;
begin
  if counts <> '[]' then
    insert into usage_batch (id) values (batch) on conflict do nothing;
    is_new := found;
  end if;
  if is_new then
    perform usage_count(counts);
  end if;
  insert into usage_replica (id, through, at) values (replica, to_timestamp(through_ms / 1000), now())
    on conflict (id) do update set through = greatest(usage_replica.through, excluded.through), at = now();
  delete from usage_batch b where b.at < now() - interval '2 days';
  delete from usage_replica r where r.at < now() - interval '2 days';
end $$;

-- Up to when everything is in the store, and whether counts of a period may be missing for good: a journal that has been
-- silent for longer than `lost_after` holds the report back no longer. What it may lack lies between what it had added and
-- when it was last heard of, and an hour is more than its last lease. Replicas of 0.1.0 have no journal: one that has been
-- silent for five minutes is dead, and what it had not added is lost.
create function usage_completeness(lost_after interval, period_from timestamptz, period_to timestamptz)
returns table (through timestamptz, incomplete boolean) language sql stable as $$
  select
    least(
      now(),
      (select min(r.through) from usage_replica r where r.at > now() - interval '5 minutes'),
      (select min(j.through) from usage_journal j where j.at > now() - lost_after)
    ),
    exists (
      select from usage_journal j
      where j.through < 'infinity' and j.at <= now() - lost_after
        and j.through < period_to and j.at + interval '1 hour' > period_from
    )
$$;

-- For replicas of earlier versions.
create or replace function usage_complete_through() returns timestamptz language sql stable as $$
  select c.through from usage_completeness(interval '1 day', now(), now()) c
$$;
