-- Returns the name of a key's fact in the log: `k:` and the key's digest in base64url.
create or replace function api_key_log_key(digest bytea) returns text language sql immutable as $$
  select 'k:' || rtrim(translate(encode(digest, 'base64'), '+/', '-_'), '=')
$$;
