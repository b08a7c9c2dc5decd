-- Returns the key `k` with the limits in `limits` applied; its other limits stay unchanged.
create or replace function api_key_limited(k api_key, limits jsonb) returns api_key language sql stable as $$
  select jsonb_populate_record(k, limits)
$$;
