-- A row of `api_key` as it is shown, in events too: without its digests, and without the prefix that it was imported under.
create or replace function api_key_shown(k jsonb) returns jsonb language sql immutable as $$
  select k - array['digest', 'client_secret_digest', 'imported_under']
$$;
