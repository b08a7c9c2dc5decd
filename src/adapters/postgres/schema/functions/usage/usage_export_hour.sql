-- Returns the counts that a closed hour had when it was closed, for up to `most` accounts. The accounts are sorted by
-- the id of their parent and then by their own id; a parent counts as its own parent. The first account is the one
-- after `after`. Accounts without hourly rows in that hour are left out.
--
-- A call looks at no more than `most` + 1 parents, by the index on parent and hour. If more parents may follow and
-- fewer than `most` accounts were found, one more row is returned, with null as `counts`. This row names the account
-- after which the next call begins.
create or replace function usage_export_hour(of_hour timestamptz, after uuid, most int)
returns table (account_id uuid, root_id uuid, external_id text, counts bigint[]) language sql stable
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
  with begun as (
    -- Parent of the account `after`; `after` itself if it is a parent or if there is no such account.
    select coalesce((select coalesce(a.parent_id, a.id) from account a where a.id = after), after) as root
  ), roots as materialized (
    select a.id from account a, begun b where a.parent_id is null and a.id >= b.root order by a.id limit most + 1
  ), used as materialized (
    select h.account_id, r.id as root_id, h.counts
    from roots r cross join begun b cross join lateral (
      select h.account_id, array[sum(h.requests), sum(h.reads), sum(h.writes), sum(h.client_errors),
        sum(h.server_errors), sum(h.bytes_in), sum(h.bytes_out), units_sum(sum(h.units))]::bigint[] as counts
      from usage_hourly h
      where h.root_id = r.id and h.hour = of_hour and (r.id <> b.root or h.account_id > after)
        -- A restored backup may lack accounts that were used after it was made.
        and exists (select from account a where a.id = h.account_id)
      group by 1 order by 1 limit most
    ) h
    order by r.id, h.account_id limit most
  )
  select u.account_id, u.root_id, a.external_id, array(
      select greatest(0, n.count - coalesce(l.late[n.at], 0)) from unnest(u.counts) with ordinality n (count, at) order by n.at
    )
    from used u join account a on a.id = u.account_id cross join lateral (
      select array[sum(l.requests), sum(l.reads), sum(l.writes), sum(l.client_errors), sum(l.server_errors),
        sum(l.bytes_in), sum(l.bytes_out), units_sum(sum(l.units))]::bigint[] as late
      from usage_late l where l.account_id = u.account_id and l.hour = of_hour
    ) l
  union all
  select coalesce((select u.account_id from used u where u.root_id = r.id order by u.account_id desc limit 1), r.id), r.id, null, null from (
    select id, row_number() over (order by id) as number from roots
  ) r
  where r.number > most and (select count(*) from used) < most
$$;
