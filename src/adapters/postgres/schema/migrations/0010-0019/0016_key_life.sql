-- compatible with: 4
-- locks for a moment: api_key
-- The life of a key: a new name, another expiry, a new key in its place. A column that is empty at first takes no rewrite
-- and no look at the rows.

alter table api_key add column rotated_from uuid;

-- Whether a key can be used right now, by this server's clock.
create function api_key_is_active(k api_key) returns boolean language sql volatile as $$
  select k.revoked_at is null and (k.expires_at is null or k.expires_at > clock_timestamp())
$$;

-- As in 0008, but for `rescheduled`: keys that expire at another time from now on. A replica of this version asks again when
-- the streams end that depend on them. One of 0.1.0 would let them go on until the time it knows, so while one is registered
-- these keys count as withdrawn, and their streams end now: their clients open them again, with the new time. Looked at
-- under the lock under which the row of such a replica appears: each is seen, or reads this change before its first lease.
create function coherence_record(keys text[], withdrawn text[], rescheduled text[]) returns bigint language plpgsql as $$
declare
  newest_deleted bigint;
  taken bigint;
  beside_older boolean;
begin
  -- A 2xx is a promise: it must not depend on a commit that a crash can still undo.
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  with deleted as (
    delete from coherence_log l
      where l.key = any (keys) and (not l.withdrawn or l.key = any (coherence_record.withdrawn))
      returning l.seq
  )
  select max(d.seq) into newest_deleted from deleted d;
  perform from coherence_seq for no key update;
  -- In a later snapshot than the lock: it has every change that was committed before, but for what was just deleted.
  taken := greatest(coherence_position(), newest_deleted) + 1;
  beside_older := coherence_reads_v();
  if beside_older then
    update coherence_seq set v = taken;
  end if;
  insert into coherence_log (seq, key, withdrawn)
    select taken, k, k = any (coherence_record.withdrawn) or beside_older and k = any (rescheduled)
    from unnest(keys) k group by k;
  perform pg_notify('tenancy_gateway_coherence', taken::text);
  return taken;
end $$;

create or replace function coherence_record(keys text[], withdrawn text[] default '{}') returns bigint
language plpgsql as $$
begin
  return coherence_record(keys, withdrawn, '{}');
end $$;

-- Changes a key: `change` is a PATCH with `name` and `expires_at`. 'inactive' where it was to expire at another time, but is
-- revoked or has expired: such a key stays what it is.
create function api_key_update(
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
  if made is distinct from old then
    update api_key k set name = made.name, expires_at = made.expires_at where k.id = of_id returning * into made;
  end if;
  outcome := 'done';
  key := api_key_json(made);
  perform change_note(request, null);
  if made.expires_at is distinct from old.expires_at then
    seq := coherence_record(array[api_key_log_key(made.digest)], '{}', array[api_key_log_key(made.digest)]);
  elsif change ? 'expires_at' then
    seq := coherence_position();
  end if;
end $$;

-- Makes a new key in place of another one of the same account, with its name and its scopes. The other one is revoked, or
-- expires after `overlap_s` seconds where it does not before. No limit counts the new one: the other is about to go.
--
-- 'inactive' where the other one is revoked or has expired.
create function api_key_rotate(
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
      (id, account_id, name, scopes, digest, client_secret_digest, prefix, last4, expires_at, rotated_from)
    values (new_id, of_account, old.name, old.scopes, new_digest, new_client_secret_digest, new_prefix, new_last4,
      new_expires_at, of_id)
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

-- How many keys of an account count towards its limit: those that can be used. Revoked and expired ones stay what they are.
create function api_key_count(of_account uuid) returns bigint language sql stable as $$
  select count(*) from api_key k
  where k.account_id = of_account and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
$$;

-- As in 0007, but for what counts.
create or replace function api_key_create(
  request jsonb,
  of_account uuid, new_id uuid, new_name text, new_scopes jsonb, new_digest bytea, new_client_secret_digest bytea,
  new_prefix text, new_last4 text, new_expires_at timestamptz, max_keys int,
  out outcome text, out seq bigint, out key jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  made api_key;
begin
  select b.outcome, b.made into outcome, key from change_begin(request) b;
  if outcome is not null then
    return;
  end if;
  perform from account a where a.id = of_account for no key update;
  if not found then
    outcome := 'none';
    return;
  end if;
  if api_key_count(of_account) >= max_keys then
    outcome := 'limit';
    return;
  end if;
  insert into api_key
      (id, account_id, name, scopes, digest, client_secret_digest, prefix, last4, expires_at)
    values (new_id, of_account, new_name, array(select jsonb_array_elements_text(new_scopes)), new_digest,
      new_client_secret_digest, new_prefix, new_last4, new_expires_at)
    returning * into made;
  outcome := 'done';
  key := api_key_json(made);
  perform change_note(request, key);
end $$;

-- As in 0012, but for what counts.
create or replace function api_key_import(
  request jsonb, of_parent uuid, new_keys jsonb, max_keys int,
  out outcome text, out seq bigint, out imported int, out keys jsonb, out faults jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  made jsonb;
  log_keys text[];
begin
  select b.outcome, b.made into outcome, made from change_begin(request) b;
  if outcome is not null then
    if outcome = 'again' then
      seq := coherence_position();
      imported := (made ->> 'imported')::int;
      keys := made -> 'keys';
    end if;
    return;
  end if;
  perform fleet_require(2);
  -- One import at a time: two of them may hold the same keys, for different accounts.
  perform pg_advisory_xact_lock(7311970454);
  perform from account a where a.id = of_parent and a.parent_id is null for no key update;
  if not found then
    outcome := 'none';
    return;
  end if;
  -- Mints queue up behind these locks, and are counted. In the order of ids: nothing else locks two sub-accounts.
  perform from account a
    where a.parent_id = of_parent and a.id in (select (k ->> 'owner')::uuid from jsonb_array_elements(new_keys) k)
    order by a.id for no key update;

  select jsonb_agg(k.n - 1 order by k.n) into faults
    from jsonb_array_elements(new_keys) with ordinality k (key, n)
    where not exists (
      select from account a
      where a.id = (k.key ->> 'owner')::uuid and (a.id = of_parent or a.parent_id = of_parent)
    );
  if faults is not null then
    outcome := 'no-owner';
    return;
  end if;
  select jsonb_agg(k.n - 1 order by k.n) into faults
    from jsonb_array_elements(new_keys) with ordinality k (key, n)
      join api_key there on there.digest = (k.key ->> 'digest')::bytea
    where there.account_id <> (k.key ->> 'owner')::uuid;
  if faults is not null then
    outcome := 'taken';
    return;
  end if;
  with fresh as (
    select k.n, (k.key ->> 'owner')::uuid as owner
    from jsonb_array_elements(new_keys) with ordinality k (key, n)
    where not exists (select from api_key there where there.digest = (k.key ->> 'digest')::bytea)
  ), counted as (
    select fresh.owner, count(*) + api_key_count(fresh.owner) as keys from fresh group by fresh.owner
  )
  select jsonb_agg(fresh.n - 1 order by fresh.n) into faults
    from fresh join counted c on c.owner = fresh.owner where c.keys > max_keys;
  if faults is not null then
    outcome := 'limit';
    return;
  end if;

  with fresh as (
    insert into api_key (id, account_id, name, scopes, digest, prefix, last4, expires_at)
      select k.id, k.owner, k.name, k.scopes, k.digest, k.prefix, k.last4, k.expires_at
      from jsonb_to_recordset(new_keys) as k (
        id uuid, owner uuid, name text, scopes text[], digest bytea, prefix text, last4 text, expires_at timestamptz
      )
      on conflict (digest) do nothing
      returning digest
  )
  select count(*), array_agg(api_key_log_key(fresh.digest)) into imported, log_keys from fresh;
  select jsonb_agg(api_key_json(there) order by k.n) into keys
    from jsonb_array_elements(new_keys) with ordinality k (key, n)
      join api_key there on there.digest = (k.key ->> 'digest')::bytea;
  outcome := 'done';
  perform change_note(request, jsonb_build_object('imported', imported, 'keys', keys));
  seq := case when imported > 0 then coherence_record(log_keys) else coherence_position() end;
end $$;
