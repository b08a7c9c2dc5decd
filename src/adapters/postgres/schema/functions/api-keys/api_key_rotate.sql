-- Creates a key that replaces an existing key of the same account. The new key inherits the old key's name, scopes,
-- limits and all other columns that are not set here. The requests of both keys count together towards the limits. The
-- old key is revoked if `overlap_s` is 0. Otherwise, it expires after `overlap_s` seconds, unless it was due to expire
-- earlier. The account's maximum number of keys is not checked, because the old key soon ends. `outcome` is 'inactive'
-- if the old key has been revoked or has expired.
--
-- A lineage is a key and all keys rotated from it, directly or indirectly. A rotation leaves at most two keys of a
-- lineage active. If it would leave more, nothing changes and `outcome` is 'rotated'; `newest` in `key` is then the id
-- of the lineage's newest active key. Without this rule, the same key could be rotated again and again, and the account
-- could exceed any maximum.
create or replace function api_key_rotate(
  request jsonb,
  of_account uuid, of_id uuid, overlap_s int, new_id uuid, new_digest bytea, new_client_secret_digest bytea,
  new_prefix text, new_last4 text, new_expires_at timestamptz,
  out outcome text, out seq bigint, out key jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  old api_key;
  made api_key;
  ends timestamptz(3);
  lineage uuid;
  others uuid[];
begin
  select b.outcome, b.made, b.seq into outcome, key, seq from change_begin(request) b;
  if outcome is not null then
    return;
  end if;
  perform change_fence(of_account);
  select * into old from api_key k where k.id = of_id and k.account_id = of_account for no key update;
  if not found or not account_is_there(of_account) then
    outcome := 'none';
    return;
  end if;
  if not api_key_is_active(old) then
    outcome := 'inactive';
    return;
  end if;

  lineage := coalesce(old.limit_id, of_id);
  others := array(
    select k.id from api_key k
    where k.account_id = of_account and k.revoked_at is null and api_key_is_active(k)
      and coalesce(k.limit_id, k.id) = lineage and (k.id <> of_id or overlap_s > 0)
    order by k.created_at desc, k.id desc
  );
  if cardinality(others) > 1 then
    outcome := 'rotated';
    key := jsonb_build_object('newest', others[1]);
    return;
  end if;

  -- A rotation without overlap only takes away, but not one of a key that came from another rotation within the hour.
  if overlap_s > 0 or old.rotated_from is not null and old.created_at > now() - interval '1 hour' then
    perform require_budget(request, of_account);
  end if;
  made := old;
  made.id := new_id;
  made.digest := new_digest;
  made.client_secret_digest := new_client_secret_digest;
  made.prefix := new_prefix;
  made.last4 := new_last4;
  made.created_at := now();
  made.expires_at := new_expires_at;
  made.last_used_at := null;
  made.imported_under := null;
  made.rotated_from := of_id;
  made.limit_id := lineage;
  perform set_config('tenancy_gateway.minted', new_id::text, true);
  insert into api_key select (made).* returning * into made;
  ends := least(old.expires_at, clock_timestamp() + make_interval(secs => overlap_s));
  if overlap_s = 0 then
    update api_key k set revoked_at = now() where k.id = of_id;
  elsif ends is distinct from old.expires_at then
    update api_key k set expires_at = ends where k.id = of_id;
  end if;
  outcome := 'done';
  key := api_key_shown(to_jsonb(made));
  seq := change_end(request, key, nullif(overlap_s = 0 or ends is distinct from old.expires_at, false));
end $$;
