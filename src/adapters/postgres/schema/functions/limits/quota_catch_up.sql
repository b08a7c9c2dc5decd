-- Adds counts to the quotas that their process did not know of yet when it made them: those given after `confirmed`, the
-- position of the log through which the process had read. Its requests from then on are reported by `quota_ask`.
--
-- A missing row is inserted here, not only by `quota_ask`: whichever of several transactions inserts it, the others wait
-- for its commit and then add what it could not see. So no counts are missing and none are added twice.
create or replace function quota_catch_up(counts usage_counted[], confirmed bigint) returns void language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  given constant text[] := array(select substr(l.key, 3) from coherence_log l where l.seq > confirmed and l.key like 'q:%');
  begun record;
begin
  if given = '{}' then
    return;
  end if;
  for begun in
    select q.name, q.starts, account_quota(a, q.amount) as quota,
      sum(case when q.amount like 'units%' then c.units else c.requests end) as used
    from (
      select owner.id, r.hour, sum(r.requests) as requests, sum(r.units) as units
      from unnest(counts) r cross join lateral (select r.root_id union select r.account_id) owner (id) group by 1, 2
    ) c
    join account a on a.id = c.id
    cross join lateral (
      select case when a.parent_id is null then 'parent:' else 'sub_account:' end || a.id || ':' || k as name, k as kind,
        quota_column('::' || k) as amount, date_trunc(split_part(k, ':', 1), now(), 'UTC') as starts
      from unnest(array['day', 'month', 'month:units']) k
    ) q
    where c.hour >= q.starts and account_quota(a, q.amount) is not null and (
      q.name = any (given) or (a.plan || ':' || q.kind = any (given) and to_jsonb(a) ->> q.amount is null)
    )
    group by 1, 2, 3 order by 1
  loop
    for attempt in 1..2 loop
      update limit_quota q set used = least(q.used + begun.used, 1000 * 9007199254740991)
        where q.limit_name = begun.name and q.starts_at = begun.starts;
      exit when found;
      insert into limit_quota (limit_name, starts_at, series, used, quota)
        values (begun.name, begun.starts, nextval('limit_series'), usage_since(begun.name, begun.starts), begun.quota)
        on conflict (limit_name, starts_at) do nothing;
      exit when found;
    end loop;
  end loop;
end $$;
