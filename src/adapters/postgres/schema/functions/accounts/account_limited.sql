-- Returns the account `a` with the limits in `limits` applied; its other limits stay unchanged.
create or replace function account_limited(a account, limits jsonb) returns account language plpgsql immutable as $$
begin
  if limits ? 'requests_per_second' then
    a.requests_per_second := (limits ->> 'requests_per_second')::int;
  end if;
  if limits ? 'burst' then
    a.burst := (limits ->> 'burst')::int;
  end if;
  if limits ? 'requests_per_minute' then
    a.requests_per_minute := (limits ->> 'requests_per_minute')::int;
  end if;
  if limits ? 'requests_per_day' then
    a.requests_per_day := (limits ->> 'requests_per_day')::bigint;
  end if;
  if limits ? 'requests_per_month' then
    a.requests_per_month := (limits ->> 'requests_per_month')::bigint;
  end if;
  return a;
end $$;
