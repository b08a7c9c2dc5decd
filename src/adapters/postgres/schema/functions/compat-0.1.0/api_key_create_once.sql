create or replace function api_key_create_once(
  caller uuid, request_key bytea, request_fingerprint bytea,
  of_account uuid, new_id uuid, new_name text, new_scopes jsonb, new_digest bytea, new_client_secret_digest bytea,
  new_prefix text, new_last4 text, new_expires_at timestamptz, max_keys int,
  out outcome text, out key jsonb
) language plpgsql as $$
#variable_conflict use_column
begin
  select c.outcome, c.made into outcome, key from idempotency_claim(caller, request_key, request_fingerprint) c;
  if outcome <> 'new' then
    return;
  end if;
  select m.outcome, m.key into outcome, key
    from api_key_create(of_account, new_id, new_name, new_scopes, new_digest, new_client_secret_digest, new_prefix,
      new_last4, new_expires_at, max_keys) m;
  if outcome = 'done' then
    perform idempotency_note(caller, request_key, request_fingerprint, key);
  end if;
end $$;
