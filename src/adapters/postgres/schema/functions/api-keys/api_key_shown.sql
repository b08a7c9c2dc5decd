-- Returns a row of `api_key` without the columns that neither responses nor events show.
create or replace function api_key_shown(k jsonb) returns jsonb language sql immutable as $$
  select k - array['digest', 'client_secret_digest', 'imported_under']
$$;
