-- compatible with: 4
-- locks for a moment: api_key
-- Limits of what an API key may send. As those of an account (0029), but for months. Columns that are empty at first take no
-- rewrite and no look at the rows.

alter table api_key
  add column requests_per_second int,
  add column burst int,
  -- By which the limits of this key and of those it was rotated from are counted together; null: by its own id.
  add column limit_id uuid,
  add constraint api_key_limits check (
    requests_per_second > 0 and burst > 0 and (burst is null or requests_per_second is not null)
  ) not valid;

-- The row with these limits.
create function api_key_limited(k api_key, limits jsonb) returns api_key language plpgsql immutable as $$
begin
  if limits ? 'requests_per_second' then
    k.requests_per_second := (limits ->> 'requests_per_second')::int;
  end if;
  if limits ? 'burst' then
    k.burst := (limits ->> 'burst')::int;
  end if;
  return k;
end $$;

-- As in 0021, but for the limits that the key begins with, in a member `limits` of `request`. 'burst-alone' where it would have a burst
-- and no rate. No replica remembers a key that no request has come with.
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
  insert into api_key
      (id, account_id, name, scopes, digest, client_secret_digest, prefix, last4, expires_at, requests_per_second, burst)
    values (new_id, of_account, new_name, array(select jsonb_array_elements_text(new_scopes)), new_digest,
      new_client_secret_digest, new_prefix, new_last4, new_expires_at, limited.requests_per_second, limited.burst)
    returning * into made;
  outcome := 'done';
  key := api_key_json(made);
  perform change_note(request, key);
end $$;

-- As in 0016, but for `limits` in `change`, which may change whatever has become of the key.
create or replace function api_key_update(
  request jsonb, of_account uuid, of_id uuid, change jsonb, out outcome text, out seq bigint, out key jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  old api_key;
  made api_key;
begin
  select b.outcome into outcome from change_begin(request) b;
  if outcome is not null then
    return;
  end if;
  perform limits_begin(change -> 'limits');
  if change ? 'expires_at' then
    perform change_fence(of_account);
  end if;
  select * into old from api_key k where k.id = of_id and k.account_id = of_account for no key update;
  if not found then
    outcome := 'none';
    return;
  end if;

  made := old;
  if change ? 'name' then
    made.name := change ->> 'name';
  end if;
  if change ? 'expires_at' then
    made.expires_at := (change ->> 'expires_at')::timestamptz;
    if made.expires_at is distinct from old.expires_at and not api_key_is_active(old) then
      outcome := 'inactive';
      return;
    end if;
  end if;
  made := api_key_limited(made, change -> 'limits');
  if made.burst is not null and made.requests_per_second is null then
    outcome := 'burst-alone';
    return;
  end if;
  if made is distinct from old then
    update api_key k
      set name = made.name, expires_at = made.expires_at, requests_per_second = made.requests_per_second,
        burst = made.burst
      where k.id = of_id returning * into made;
  end if;
  outcome := 'done';
  key := api_key_json(made);
  perform change_note(request, null);
  if made.expires_at is distinct from old.expires_at then
    seq := coherence_record(array[api_key_log_key(made.digest)], '{}', array[api_key_log_key(made.digest)]);
  elsif (made.requests_per_second, made.burst) is distinct from (old.requests_per_second, old.burst) then
    seq := coherence_record(array[api_key_log_key(made.digest)]);
  elsif change ?| array['expires_at', 'limits'] then
    seq := coherence_position();
  end if;
end $$;

-- As in 0016, but for the limits, which the new key has from the one in whose place it is, and shares with it.
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
begin
  select b.outcome, b.made into outcome, key from change_begin(request) b;
  if outcome is not null then
    -- The request that made it may still be waiting for its position, which is this one or an older one.
    seq := case outcome when 'again' then coherence_position() end;
    return;
  end if;
  perform change_fence(of_account);
  select * into old from api_key k where k.id = of_id and k.account_id = of_account for no key update;
  if not found then
    outcome := 'none';
    return;
  end if;
  if not api_key_is_active(old) then
    outcome := 'inactive';
    return;
  end if;

  insert into api_key
      (id, account_id, name, scopes, digest, client_secret_digest, prefix, last4, expires_at, rotated_from,
        requests_per_second, burst, limit_id)
    values (new_id, of_account, old.name, old.scopes, new_digest, new_client_secret_digest, new_prefix, new_last4,
      new_expires_at, of_id, old.requests_per_second, old.burst, coalesce(old.limit_id, old.rotated_from, of_id))
    returning * into made;
  ends := least(old.expires_at, clock_timestamp() + make_interval(secs => overlap_s));
  if overlap_s = 0 then
    update api_key k set revoked_at = now() where k.id = of_id;
  elsif ends is distinct from old.expires_at then
    update api_key k set expires_at = ends where k.id = of_id;
  end if;
  outcome := 'done';
  key := api_key_json(made);
  perform change_note(request, key);
  if overlap_s = 0 then
    seq := coherence_record(array[api_key_log_key(old.digest)], array[api_key_log_key(old.digest)]);
  elsif ends is distinct from old.expires_at then
    seq := coherence_record(array[api_key_log_key(old.digest)], '{}', array[api_key_log_key(old.digest)]);
  end if;
end $$;
