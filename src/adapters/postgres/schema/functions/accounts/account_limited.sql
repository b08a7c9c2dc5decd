-- Returns the account `a` with the limits in `limits` applied; its other limits stay unchanged. "unlimited" lifts a
-- limit of the account's plan.
create or replace function account_limited(a account, limits jsonb) returns account language plpgsql immutable as $$
begin
  if limits ? 'requests_per_second' then
    a.requests_per_second := nullif(limits ->> 'requests_per_second', 'unlimited')::int;
  end if;
  if limits ? 'burst' then
    a.burst := (limits ->> 'burst')::int;
  end if;
  if limits ? 'requests_per_minute' then
    a.requests_per_minute := nullif(limits ->> 'requests_per_minute', 'unlimited')::int;
  end if;
  if limits ? 'requests_per_day' then
    a.requests_per_day := nullif(limits ->> 'requests_per_day', 'unlimited')::bigint;
  end if;
  if limits ? 'requests_per_month' then
    a.requests_per_month := nullif(limits ->> 'requests_per_month', 'unlimited')::bigint;
  end if;
  if limits ? 'units_per_month' then
    a.units_per_month := nullif(limits ->> 'units_per_month', 'unlimited')::bigint;
  end if;
  a.unlimited := unlimited_after(a.unlimited, limits);
  return a;
end $$;
