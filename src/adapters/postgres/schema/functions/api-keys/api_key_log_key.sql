-- Returns the name of a key's fact in the log: `k:` and the digest in base64url, as the gateway writes digests.
create or replace function api_key_log_key(digest bytea) returns text language sql immutable as $$
  select 'k:' || rtrim(translate(encode(digest, 'base64'), '+/', '-_'), '=')
$$;
