-- Makes a key with the limits in `request`. 'limit' if the account has the most it may have, which `key` then says;
-- 'burst-alone' if the key would have a burst but no rate. Nothing is logged, since no replica remembers a key before
-- a request has used it.
create or replace function api_key_create(
  request jsonb,
  of_account uuid, new_id uuid, new_name text, new_scopes jsonb, new_digest bytea, new_client_secret_digest bytea,
  new_prefix text, new_last4 text, new_expires_at timestamptz, max_keys int,
  out outcome text, out seq bigint, out key jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  made api_key;
  limited api_key;
  most int;
begin
  select b.outcome, b.made into outcome, key from change_begin(request) b;
  if outcome is not null then
    return;
  end if;
  perform limits_begin(request -> 'limits');
  limited := api_key_limited(limited, request -> 'limits');
  if limited.burst is not null and limited.requests_per_second is null then
    outcome := 'burst-alone';
    return;
  end if;
  perform from account a where a.id = of_account for no key update;
  if not found then
    outcome := 'none';
    return;
  end if;
  most := api_key_limit(of_account, max_keys);
  if api_key_count(of_account) >= most then
    outcome := 'limit';
    key := jsonb_build_object('limit', most);
    return;
  end if;
  perform set_config('tenancy_gateway.minted', new_id::text, true);
  insert into api_key
      (id, account_id, name, scopes, digest, client_secret_digest, prefix, last4, expires_at, requests_per_second, burst)
    values (new_id, of_account, new_name, array(select jsonb_array_elements_text(new_scopes)), new_digest,
      new_client_secret_digest, new_prefix, new_last4, new_expires_at, limited.requests_per_second, limited.burst)
    returning * into made;
  outcome := 'done';
  key := api_key_json(made);
  seq := change_end(request, key);
end $$;
