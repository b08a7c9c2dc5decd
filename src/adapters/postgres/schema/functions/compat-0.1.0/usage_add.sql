-- Adds a batch from a replica of 0.1.0. The batch's rows have no last-used time, so the end of each row's hour is used
-- instead. If the hour ends in the future, `usage_count` uses the current time. Replicas of 0.1.0 do not know
-- `usage.keys_per_account_hour`, so the maximum of this setting applies.
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
    perform usage_count(array_agg(row(a.id, coalesce(a.parent_id, a.id), c.key_id, c.hour, c.hour + interval '1 hour', c.requests, c.reads,
        c.writes, c.client_errors, c.server_errors, c.bytes_in, c.bytes_out, 0, null)::usage_counted), null, 10000)
      from jsonb_to_recordset(counts) c (account_id uuid, key_id uuid, hour timestamptz, requests bigint, reads bigint,
        writes bigint, client_errors bigint, server_errors bigint, bytes_in bigint, bytes_out bigint)
        join account a on a.id = c.account_id;
  end if;
  insert into usage_replica (id, through, at) values (replica, to_timestamp(through_ms / 1000), now())
    on conflict (id) do update set through = greatest(usage_replica.through, excluded.through), at = now();
  delete from usage_batch b where b.at < now() - interval '2 days';
  delete from usage_replica r where r.at < now() - interval '2 days';
end $$;
