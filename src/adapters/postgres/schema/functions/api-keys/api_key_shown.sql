-- Returns a row of `api_key` without the columns that responses and events leave out.
create or replace function api_key_shown(k jsonb) returns jsonb language sql immutable as $$
  select k - array['digest', 'client_secret_digest', 'imported_under']
$$;
