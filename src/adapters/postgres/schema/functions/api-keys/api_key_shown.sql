-- Returns a row of `api_key` as it is shown, also in events: without digests, and without the prefix it was imported
-- under.
create or replace function api_key_shown(k jsonb) returns jsonb language sql immutable as $$
  select k - array['digest', 'client_secret_digest', 'imported_under']
$$;
