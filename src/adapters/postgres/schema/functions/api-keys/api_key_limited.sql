-- Returns the key `k` with the limits in `limits` applied; its other limits stay unchanged.
create or replace function api_key_limited(k api_key, limits jsonb) returns api_key language plpgsql immutable as $$
begin
  if limits ? 'requests_per_second' then
    k.requests_per_second := (limits ->> 'requests_per_second')::int;
  end if;
  if limits ? 'burst' then
    k.burst := (limits ->> 'burst')::int;
  end if;
  if limits ? 'requests_per_minute' then
    k.requests_per_minute := (limits ->> 'requests_per_minute')::int;
  end if;
  return k;
end $$;
