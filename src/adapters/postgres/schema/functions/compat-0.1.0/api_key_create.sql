create or replace function api_key_create(
  of_account uuid, new_id uuid, new_name text, new_scopes jsonb, new_digest bytea, new_client_secret_digest bytea,
  new_prefix text, new_last4 text, new_expires_at timestamptz, max_keys int,
  out outcome text, out key jsonb
) language sql as $$
  select c.outcome, c.key from api_key_create(
    '{}', of_account, new_id, new_name, new_scopes, new_digest, new_client_secret_digest, new_prefix, new_last4,
    new_expires_at, max_keys
  ) c
$$;
