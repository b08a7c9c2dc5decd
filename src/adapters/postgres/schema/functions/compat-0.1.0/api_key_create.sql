create or replace function api_key_create(
  of_account uuid, new_id uuid, new_name text, new_scopes jsonb, new_digest bytea, new_client_secret_digest bytea,
  new_prefix text, new_last4 text, new_expires_at timestamptz, max_keys int,
  out outcome text, out key jsonb
) language sql as $$
  select c.outcome, c.key from api_key_create(
    '{}', of_account, jsonb_build_object('id', new_id, 'name', new_name, 'scopes', new_scopes, 'digest', new_digest,
      'client_secret_digest', new_client_secret_digest, 'prefix', new_prefix, 'last4', new_last4,
      'expires_at', new_expires_at), max_keys
  ) c
$$;
