-- Returns how many requests, or units for a quota of units, the store has counted for an account since `starts`, the
-- first instant of a day. A parent's number includes all its sub-accounts. `of_limit` names the quota, as in
-- `parent:0198…:month`. A parent with more than 5,000 sub-accounts gets 0, because each account costs an index look-up
-- while a request waits for the answer.
create or replace function usage_since(of_limit text, starts timestamptz) returns bigint language plpgsql stable
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  owner constant uuid := split_part(of_limit, ':', 2);
  since constant date := usage_day_of(starts);
  counts_units constant boolean := quota_column(of_limit) like 'units%';
  root uuid;
  subs int;
begin
  select coalesce(a.parent_id, a.id), coalesce(a.sub_accounts, 0) into root, subs from account a where a.id = owner;
  if not found or subs > 5000 then
    return 0;
  end if;
  return (
    select least(coalesce(sum(case when counts_units then u.units else u.requests end), 0), 9007199254740991)
      from (
        select owner as id
        union all
        select a.id from account a where a.parent_id = owner
      ) of_account
      cross join usage_kept k
      cross join lateral (
        select d.requests, d.units from usage_daily d
          where d.root_id = root and d.account_id = of_account.id and d.day >= since
            and d.day < usage_rolled_until(k, root, of_account.id)
        union all
        select h.requests, h.units from usage_hourly h
          where h.root_id = root and h.account_id = of_account.id
            and h.hour >= greatest(since, usage_rolled_until(k, root, of_account.id))::timestamp at time zone 'UTC'
        offset 0
      ) u
  );
end $$;
