-- Returns the quota in force for an account: its own, or its plan's, or null if it has none. `quota` is the quota's
-- column, such as 'requests_per_day'.
create or replace function account_quota(of_account account, quota text) returns bigint language sql stable as $$
  select coalesce(
    case quota
      when 'requests_per_day' then of_account.requests_per_day
      when 'requests_per_month' then of_account.requests_per_month
      when 'units_per_month' then of_account.units_per_month
    end,
    (
      select case quota
        when 'requests_per_day' then p.requests_per_day
        when 'requests_per_month' then p.requests_per_month
        when 'units_per_month' then p.units_per_month
      end
      from plan p where p.name = of_account.plan and quota <> all (of_account.unlimited)
    )
  )
$$;
