-- Returns a key as JSON, without the columns that `api_key_shown` leaves out.
create or replace function api_key_json(k api_key) returns jsonb language sql stable as $$
  select api_key_shown(to_jsonb(k))
$$;
