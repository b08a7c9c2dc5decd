-- Mutations, one function each: one round trip, the row locks held for no longer than the statement itself.
-- Rows are locked from the top down (parent, sub-account, key, and the position last), so none can deadlock.
-- `outcome` is 'done' or says why not; `seq` is the position to wait for, null where nobody can hold an old answer.

create function api_key_json(k api_key) returns jsonb language sql stable as $$
  select to_jsonb(k) - array['digest', 'client_secret_digest']
$$;

-- The name of a key in the log: base64url of its digest, as the gateway writes digests.
create function api_key_log_key(digest bytea) returns text language sql immutable as $$
  select 'k:' || rtrim(translate(encode(digest, 'base64'), '+/', '-_'), '=')
$$;

create function account_create_sub(
  new_parent uuid, new_id uuid, new_name text, new_external_id text, new_metadata jsonb, max_sub_accounts int,
  out outcome text, out seq bigint, out holder uuid, out account jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  parent account;
  made account;
begin
  -- Creates under one parent queue up here: the limit and the external_id are judged by what the one before left.
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
  if parent.active_sub_accounts = 0 then
    seq := coherence_record(array['n:' || new_parent]);
  else
    -- The first active one, or the external_id that another one gave up, may not have reached every replica yet.
    seq := coherence_awaited(array['n:' || new_parent, 'x:' || new_parent || ':' || new_external_id]);
  end if;
end $$;

-- `change` is a PATCH: absent members stay, a null external_id clears it, metadata is merged and a null removes a pair.
create function account_update_sub(
  of_parent uuid, of_id uuid, change jsonb, max_pairs int,
  out outcome text, out seq bigint, out holder uuid, out account jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  old account;
  made account;
begin
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
  if made.external_id is distinct from old.external_id then
    seq := coherence_record(array_remove(array[
      'a:' || of_id, 'x:' || of_parent || ':' || old.external_id, 'x:' || of_parent || ':' || made.external_id
    ], null));
  elsif change ? 'external_id' then
    seq := coherence_position();
  end if;
end $$;

create function account_set_sub_status(
  of_parent uuid, of_id uuid, new_status text, out outcome text, out seq bigint, out account jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  active_before int;
  active_after int;
  made account;
  log_key text := 'a:' || of_id;
begin
  select a.active_sub_accounts into active_before from account a where a.id = of_parent for no key update;
  select * into made from account a where a.id = of_id and a.parent_id = of_parent for no key update;
  if not found then
    outcome := 'none';
    return;
  end if;
  outcome := 'done';
  account := to_jsonb(made);
  if made.status = new_status then
    seq := coherence_position();
    return;
  end if;

  update account a
    set status = new_status, updated_at = now(),
      deactivated_at = case when new_status = 'deactivated' then now() end
    where a.id = of_id returning * into made;
  active_after := active_before + case when new_status = 'active' then 1 else -1 end;
  update account a set active_sub_accounts = active_after where a.id = of_parent;
  account := to_jsonb(made);
  seq := coherence_record(
    array_remove(array[log_key, case when 0 in (active_before, active_after) then 'n:' || of_parent end], null),
    case when new_status = 'deactivated' then array[log_key] else '{}' end
  );
end $$;

create function account_set_parent_status(
  of_id uuid, new_status text, out outcome text, out seq bigint, out account jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  made account;
  log_key text := 'a:' || of_id;
begin
  select * into made from account a where a.id = of_id and a.parent_id is null for no key update;
  if not found then
    outcome := 'none';
    return;
  end if;
  outcome := 'done';
  if made.status = new_status then
    seq := coherence_position();
  else
    update account a set status = new_status, updated_at = now() where a.id = of_id returning * into made;
    seq := coherence_record(
      array[log_key], case when new_status = 'suspended' then array[log_key] else '{}' end
    );
  end if;
  account := to_jsonb(made);
end $$;

-- The limit counts keys that are not revoked, expired ones included: revoking one makes room.
create function api_key_create(
  of_account uuid, new_id uuid, new_name text, new_scopes jsonb, new_digest bytea, new_client_secret_digest bytea,
  new_prefix text, new_last4 text, new_expires_at timestamptz, max_keys int,
  out outcome text, out key jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  made api_key;
begin
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
end $$;

create function api_key_revoke(
  of_account uuid, of_id uuid, out outcome text, out seq bigint, out key jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  made api_key;
begin
  select * into made from api_key k where k.id = of_id and k.account_id = of_account for no key update;
  if not found then
    outcome := 'none';
    return;
  end if;
  outcome := 'done';
  if made.revoked_at is not null then
    seq := coherence_position();
  else
    update api_key k set revoked_at = now() where k.id = of_id returning * into made;
    seq := coherence_record(array[api_key_log_key(made.digest)], array[api_key_log_key(made.digest)]);
  end if;
  key := api_key_json(made);
end $$;
