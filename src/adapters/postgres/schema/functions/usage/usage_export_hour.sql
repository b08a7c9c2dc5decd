-- Returns the counts that a closed hour had when it was closed, for up to `most` accounts with ids greater than
-- `after`, in the order of their ids.
create or replace function usage_export_hour(of_hour timestamptz, after uuid, most int)
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
