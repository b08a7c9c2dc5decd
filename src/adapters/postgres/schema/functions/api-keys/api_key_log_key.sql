-- Returns the name of a key in the log: base64url of its digest, as the gateway writes digests.
create or replace function api_key_log_key(digest bytea) returns text language sql immutable as $$
  select 'k:' || rtrim(translate(encode(digest, 'base64'), '+/', '-_'), '=')
$$;
