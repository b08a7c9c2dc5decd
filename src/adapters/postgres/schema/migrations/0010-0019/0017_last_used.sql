-- compatible with: 4
-- When a key was last used comes with the counts, so that it is right however late they are added: a batch waits while the
-- database is away. Batches of earlier versions do not say it; of those an hour that is over counts by its end.
--
-- Of the keys in a batch only those are locked that get another time, each once in half a minute at most: a lock is a write,
-- too, and a key in constant use is in every batch of every replica. Streams are noted while they are open (`noteUse`), so
-- that what is stored is never a minute behind.
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
  end if;
  insert into usage_replica (id, through, at) values (replica, to_timestamp(through_ms / 1000), now())
    on conflict (id) do update set through = greatest(usage_replica.through, excluded.through), at = now();
  delete from usage_batch b where b.at < now() - interval '2 days';
  delete from usage_replica r where r.at < now() - interval '2 days';
end $$;
