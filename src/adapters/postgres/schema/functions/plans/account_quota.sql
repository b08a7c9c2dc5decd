-- Returns the quota in force for an account: its own, or its plan's, or null if it has none. `period` is 'day' or
-- 'month'.
create or replace function account_quota(of_account account, period text) returns bigint language sql stable as $$
  select coalesce(
    case period when 'day' then of_account.requests_per_day else of_account.requests_per_month end,
    (
      select case period when 'day' then p.requests_per_day else p.requests_per_month end from plan p
      where p.name = of_account.plan and 'requests_per_' || period <> all (of_account.unlimited)
    )
  )
$$;
