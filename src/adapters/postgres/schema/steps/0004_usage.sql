-- Usage counts by hour. No foreign keys: a batch that counted for an account which a restored backup does not hold must
-- not be refused for ever; such rows are left out when they are added.

create table usage_hourly (
  -- The parent the account belongs to, or the account itself.
  root_id uuid not null,
  account_id uuid not null,
  hour timestamptz(0) not null constraint usage_hour check (date_trunc('hour', hour, 'UTC') = hour),
  key_id uuid not null,
  requests bigint not null check (requests >= 0),
  reads bigint not null check (reads >= 0),
  writes bigint not null check (writes >= 0),
  client_errors bigint not null check (client_errors >= 0),
  server_errors bigint not null check (server_errors >= 0),
  bytes_in bigint not null check (bytes_in >= 0),
  bytes_out bigint not null check (bytes_out >= 0),
  primary key (root_id, account_id, hour, key_id)
) with (fillfactor = 80);
create index usage_hourly_of_root on usage_hourly (root_id, hour);

-- Batches that are in: adding one again changes nothing. Kept for as long as anybody could still try.
create table usage_batch (
  id text primary key,
  at timestamptz not null default now()
);
create index usage_batch_at on usage_batch (at);

-- How far each replica has got: it has no request from before `through` left to add.
create table usage_replica (
  id text primary key,
  through timestamptz not null,
  at timestamptz not null
);

create function usage_add(batch text, counts jsonb, replica text, through_ms double precision) returns void
language plpgsql as $$
declare
  is_new boolean := false;
begin
  if counts <> '[]' then
    insert into usage_batch (id) values (batch) on conflict do nothing;
    is_new := found;
  end if;
  if is_new then
    -- In one order everywhere, so that two replicas adding to the same rows queue up instead of deadlocking.
    insert into usage_hourly
      select coalesce(a.parent_id, a.id), a.id, c.hour, c.key_id, sum(c.requests), sum(c.reads), sum(c.writes),
        sum(c.client_errors), sum(c.server_errors), sum(c.bytes_in), sum(c.bytes_out)
      from jsonb_to_recordset(counts) c (account_id uuid, key_id uuid, hour timestamptz, requests bigint, reads bigint,
        writes bigint, client_errors bigint, server_errors bigint, bytes_in bigint, bytes_out bigint)
      join account a on a.id = c.account_id
      -- A row without requests only says that the key was used.
      where c.requests > 0
      group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (root_id, account_id, hour, key_id) do update set
      requests = usage_hourly.requests + excluded.requests,
      reads = usage_hourly.reads + excluded.reads,
      writes = usage_hourly.writes + excluded.writes,
      client_errors = usage_hourly.client_errors + excluded.client_errors,
      server_errors = usage_hourly.server_errors + excluded.server_errors,
      bytes_in = usage_hourly.bytes_in + excluded.bytes_in,
      bytes_out = usage_hourly.bytes_out + excluded.bytes_out;

    perform from api_key k
      where k.id in (select (c ->> 'key_id')::uuid from jsonb_array_elements(counts) c)
      order by k.id for no key update;
    -- A count of the running hour was made just now; one of an hour that is over, by its end. Exact to a minute, to
    -- spare a key in constant use a new row version with every batch.
    update api_key k set last_used_at = u.at
      from (
        select (c ->> 'key_id')::uuid as key_id,
          least(now(), max((c ->> 'hour')::timestamptz) + interval '1 hour') as at
        from jsonb_array_elements(counts) c group by 1
      ) u
      where k.id = u.key_id and (k.last_used_at is null or k.last_used_at < u.at - interval '1 minute');
  end if;
  insert into usage_replica (id, through, at) values (replica, to_timestamp(through_ms / 1000), now())
    on conflict (id) do update set through = greatest(usage_replica.through, excluded.through), at = now();
  delete from usage_batch b where b.at < now() - interval '2 days';
  delete from usage_replica r where r.at < now() - interval '2 days';
end $$;

-- A replica that has not been heard of for five minutes is dead, and what it had not added is lost: it holds the report
-- back no longer. One that ended in order said so with `through` = infinity.
create function usage_complete_through() returns timestamptz language sql stable as $$
  select least(now(), min(r.through)) from usage_replica r where r.at > now() - interval '5 minutes'
$$;
