-- Returns a key as JSON, as `api_key_shown` shows it.
create or replace function api_key_json(k api_key) returns jsonb language sql stable as $$
  select api_key_shown(to_jsonb(k))
$$;
