-- compatible with: 4
-- One function for each change, whether or not its request may be sent again. Only functions are made here: no table is
-- locked, so a replica renews its lease while this runs.
--
-- `request` says what asks for the change. It has a member `claim` where the request came with an Idempotency-Key:
-- `caller` (the id of the API key, the nil UUID for the operator), `key` and `fingerprint` (SHA-256, hex). It is one
-- argument, so that more can be said of a request later without a new signature for every function.
--
-- Every change goes in this order, so that no two can deadlock and the position's lock is held for the shortest time:
-- `change_begin`, the row locks from the top down (parent, sub-account, key), the write, `change_note`, the position.
--
-- `outcome` is 'done', or 'again' (an earlier request with this claim made what is answered), or says why nothing
-- happened. `seq` is the position to wait for, null where no replica can hold an old answer.

-- Whether the change may go on: null. Otherwise the outcome of the whole change: 'again' with what an earlier request
-- made, 'mismatch' or 'in-flight'. A request that only sets a state has made nothing: sent again, it sets it again.
-- To be called before anything is locked, see `idempotency_claim`.
create function change_begin(request jsonb, out outcome text, out made jsonb) language plpgsql as $$
#variable_conflict use_column
declare
  claim constant jsonb := request -> 'claim';
begin
  if claim is null then
    return;
  end if;
  select c.outcome, c.made into outcome, made
    from idempotency_claim(
      (claim ->> 'caller')::uuid, decode(claim ->> 'key', 'hex'), decode(claim ->> 'fingerprint', 'hex')
    ) c;
  if outcome = 'new' or outcome = 'again' and made is null then
    outcome := null;
  end if;
end $$;

-- Notes what a change did, in its transaction. Every change that is 'done' calls this once, after its writes and before
-- the position. `made` is the record that the same request gets when it is sent again; null where it sets a state.
--
-- This is also where the event of a change is to be written: from one more argument, null where nothing changed.
create function change_note(request jsonb, made jsonb) returns void language plpgsql as $$
declare
  claim constant jsonb := request -> 'claim';
begin
  if claim is not null then
    perform idempotency_note(
      (claim ->> 'caller')::uuid, decode(claim ->> 'key', 'hex'), decode(claim ->> 'fingerprint', 'hex'), made
    );
  end if;
end $$;

create function account_create_parent(
  request jsonb, new_id uuid, new_name text, out outcome text, out seq bigint, out account jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  parent account;
begin
  select b.outcome, b.made into outcome, account from change_begin(request) b;
  if outcome is not null then
    return;
  end if;
  insert into account (id, name, status, sub_accounts, active_sub_accounts) values (new_id, new_name, 'active', 0, 0)
    returning * into parent;
  outcome := 'done';
  account := to_jsonb(parent);
  perform change_note(request, account);
end $$;

create function account_create_sub(
  request jsonb,
  new_parent uuid, new_id uuid, new_name text, new_external_id text, new_metadata jsonb, max_sub_accounts int,
  out outcome text, out seq bigint, out holder uuid, out account jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  parent account;
  made account;
begin
  select b.outcome, b.made into outcome, account from change_begin(request) b;
  if outcome is not null then
    -- The request that made it may still be waiting for its position, which is this one or an older one.
    seq := case outcome when 'again' then coherence_position() end;
    return;
  end if;
  -- Creates under one parent queue up here: the limit and the external_id are checked against what the one before left.
  select * into parent from account a where a.id = new_parent and a.parent_id is null for no key update;
  if not found then
    outcome := 'no-parent';
    return;
  end if;
  if new_external_id is not null then
    select a.id into holder from account a where a.parent_id = new_parent and a.external_id = new_external_id;
    if found then
      outcome := 'taken';
      return;
    end if;
  end if;
  if parent.sub_accounts >= max_sub_accounts then
    outcome := 'limit';
    return;
  end if;

  insert into account (id, parent_id, name, external_id, status, metadata)
    values (new_id, new_parent, new_name, new_external_id, 'active', new_metadata) returning * into made;
  update account a set sub_accounts = a.sub_accounts + 1, active_sub_accounts = a.active_sub_accounts + 1
    where a.id = new_parent;
  outcome := 'done';
  account := to_jsonb(made);
  perform change_note(request, account);
  if parent.active_sub_accounts = 0 then
    seq := coherence_record(array['n:' || new_parent]);
  else
    -- The first active one, or the external_id that another one gave up, may not have reached every replica yet.
    seq := coherence_awaited(array['n:' || new_parent, 'x:' || new_parent || ':' || new_external_id]);
  end if;
end $$;

-- `change` is a PATCH: absent members stay, a null external_id clears it, metadata is merged and a null removes a pair.
create function account_update_sub(
  request jsonb, of_parent uuid, of_id uuid, change jsonb, max_pairs int,
  out outcome text, out seq bigint, out holder uuid, out account jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  old account;
  made account;
begin
  select b.outcome into outcome from change_begin(request) b;
  if outcome is not null then
    return;
  end if;
  if change ? 'external_id' then
    perform from account a where a.id = of_parent for no key update;
  end if;
  select * into old from account a where a.id = of_id and a.parent_id = of_parent for no key update;
  if not found then
    outcome := 'none';
    return;
  end if;

  made := old;
  if change ? 'name' then
    made.name := change ->> 'name';
  end if;
  if change ? 'external_id' then
    made.external_id := change ->> 'external_id';
    select a.id into holder from account a
      where a.parent_id = of_parent and a.external_id = made.external_id and a.id <> of_id;
    if found then
      outcome := 'taken';
      return;
    end if;
  end if;
  if change ? 'metadata' then
    made.metadata := jsonb_strip_nulls(old.metadata || (change -> 'metadata'));
    if (select count(*) from jsonb_object_keys(made.metadata)) > max_pairs then
      outcome := 'too-many-pairs';
      return;
    end if;
  end if;

  if made is distinct from old then
    update account a
      set name = made.name, external_id = made.external_id, metadata = made.metadata, updated_at = now()
      where a.id = of_id returning * into made;
  end if;
  outcome := 'done';
  account := to_jsonb(made);
  perform change_note(request, null);
  if made.external_id is distinct from old.external_id then
    seq := coherence_record(array_remove(array[
      'a:' || of_id, 'x:' || of_parent || ':' || old.external_id, 'x:' || of_parent || ':' || made.external_id
    ], null));
  elsif change ? 'external_id' then
    seq := coherence_position();
  end if;
end $$;

create function account_set_sub_status(
  request jsonb, of_parent uuid, of_id uuid, new_status text, out outcome text, out seq bigint, out account jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  active_before int;
  active_after int;
  made account;
  log_key text := 'a:' || of_id;
begin
  select b.outcome into outcome from change_begin(request) b;
  if outcome is not null then
    return;
  end if;
  select a.active_sub_accounts into active_before from account a where a.id = of_parent for no key update;
  select * into made from account a where a.id = of_id and a.parent_id = of_parent for no key update;
  if not found then
    outcome := 'none';
    return;
  end if;
  outcome := 'done';
  if made.status = new_status then
    perform change_note(request, null);
    seq := coherence_position();
  else
    update account a
      set status = new_status, updated_at = now(),
        deactivated_at = case when new_status = 'deactivated' then now() end
      where a.id = of_id returning * into made;
    active_after := active_before + case when new_status = 'active' then 1 else -1 end;
    update account a set active_sub_accounts = active_after where a.id = of_parent;
    perform change_note(request, null);
    seq := coherence_record(
      array_remove(array[log_key, case when 0 in (active_before, active_after) then 'n:' || of_parent end], null),
      case when new_status = 'deactivated' then array[log_key] else '{}' end
    );
  end if;
  account := to_jsonb(made);
end $$;

create function account_set_parent_status(
  request jsonb, of_id uuid, new_status text, out outcome text, out seq bigint, out account jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  made account;
  log_key text := 'a:' || of_id;
begin
  select b.outcome into outcome from change_begin(request) b;
  if outcome is not null then
    return;
  end if;
  select * into made from account a where a.id = of_id and a.parent_id is null for no key update;
  if not found then
    outcome := 'none';
    return;
  end if;
  outcome := 'done';
  if made.status = new_status then
    perform change_note(request, null);
    seq := coherence_position();
  else
    update account a set status = new_status, updated_at = now() where a.id = of_id returning * into made;
    perform change_note(request, null);
    seq := coherence_record(
      array[log_key], case when new_status = 'suspended' then array[log_key] else '{}' end
    );
  end if;
  account := to_jsonb(made);
end $$;

-- The limit counts keys that are not revoked, expired ones included: revoking one makes room.
create function api_key_create(
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
  if (select count(*) from api_key k where k.account_id = of_account and k.revoked_at is null) >= max_keys then
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

create function api_key_revoke(
  request jsonb, of_account uuid, of_id uuid, out outcome text, out seq bigint, out key jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  made api_key;
begin
  select b.outcome into outcome from change_begin(request) b;
  if outcome is not null then
    return;
  end if;
  select * into made from api_key k where k.id = of_id and k.account_id = of_account for no key update;
  if not found then
    outcome := 'none';
    return;
  end if;
  outcome := 'done';
  if made.revoked_at is not null then
    perform change_note(request, null);
    seq := coherence_position();
  else
    update api_key k set revoked_at = now() where k.id = of_id returning * into made;
    perform change_note(request, null);
    seq := coherence_record(array[api_key_log_key(made.digest)], array[api_key_log_key(made.digest)]);
  end if;
  key := api_key_json(made);
end $$;

-- What follows is how replicas of 0.1.0 make changes, directly and through the `…_once` functions of 0005, which stay as
-- they are. One may run beside replicas of this version, and this version may be taken back; so these functions, the
-- `…_once` ones too, are only for a later release to drop.

create or replace function account_create_sub(
  new_parent uuid, new_id uuid, new_name text, new_external_id text, new_metadata jsonb, max_sub_accounts int,
  out outcome text, out seq bigint, out holder uuid, out account jsonb
) language sql as $$
  select * from account_create_sub(
    '{}', new_parent, new_id, new_name, new_external_id, new_metadata, max_sub_accounts
  )
$$;

create or replace function account_update_sub(
  of_parent uuid, of_id uuid, change jsonb, max_pairs int,
  out outcome text, out seq bigint, out holder uuid, out account jsonb
) language sql as $$
  select * from account_update_sub('{}', of_parent, of_id, change, max_pairs)
$$;

create or replace function account_set_sub_status(
  of_parent uuid, of_id uuid, new_status text, out outcome text, out seq bigint, out account jsonb
) language sql as $$
  select * from account_set_sub_status('{}', of_parent, of_id, new_status)
$$;

create or replace function account_set_parent_status(
  of_id uuid, new_status text, out outcome text, out seq bigint, out account jsonb
) language sql as $$
  select * from account_set_parent_status('{}', of_id, new_status)
$$;

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

create or replace function api_key_revoke(
  of_account uuid, of_id uuid, out outcome text, out seq bigint, out key jsonb
) language sql as $$
  select * from api_key_revoke('{}', of_account, of_id)
$$;
