-- Applies the change of a quota to its month. `new_quota` is null if the quota was removed.
create or replace function limit_month_change(of_limit text, new_quota bigint) returns void language sql as $$
  insert into limit_month as m (month, limit_name, used, quota, changed_to, near_at)
    select date_trunc('month', clock_timestamp(), 'UTC'), of_limit, 0, new_quota, new_quota,
      case when limit_near(0, new_quota) then clock_timestamp() end
    where new_quota is not null
  on conflict (month, limit_name) do update set
    quota = excluded.quota, changed_to = excluded.changed_to,
    near_at = case when limit_near(m.used, excluded.quota) then clock_timestamp() end;
  -- The quota may be set again in this month; its use counts then. Until then replicas need not hear of it.
  update limit_month m set changed_to = null, near_at = null
    where new_quota is null and m.limit_name = of_limit and m.month = date_trunc('month', clock_timestamp(), 'UTC');
$$;
