-- Returns the quota in force for an account: its own, or its plan's, or null if it has none. `quota` is the quota's
-- column, such as 'requests_per_day'.
create or replace function account_quota(of_account account, quota text) returns bigint language sql stable as $$
  select coalesce(
    to_jsonb(of_account) ->> quota,
    (select to_jsonb(p) ->> quota from plan p where p.name = of_account.plan and quota <> all (of_account.unlimited))
  )::bigint
$$;
