-- compatible with: 4
-- locks for a moment: account
-- A parent may be given other limits than the configuration has, of its sub-accounts and of the keys of each account. They are
-- looked at here, so that a replica of an earlier version, whose configuration knows none of them, keeps them as well. Columns
-- that are empty at first take no rewrite and no look at the rows.

alter table account
  add column max_sub_accounts int,
  add column max_api_keys int,
  add constraint account_max check (
    case when parent_id is null then max_sub_accounts >= 0 and max_api_keys >= 0
      else max_sub_accounts is null and max_api_keys is null end
  ) not valid;

-- How many keys an account may have: what its parent was given, otherwise what the configuration says. A parent's number is
-- changed under `change_fence`, which no change by one of its keys is beside.
create function api_key_limit(of_account uuid, configured int) returns int language sql stable as $$
  select coalesce(
    (
      select parent.max_api_keys from account a join account parent on parent.id = coalesce(a.parent_id, a.id)
      where a.id = of_account
    ),
    configured
  )
$$;

-- As in 0013, but for the limits. `change` may have members `max_sub_accounts` and `max_api_keys`; null goes back to the configuration.
create or replace function account_update_parent(
  request jsonb, of_id uuid, change jsonb, max_pairs int,
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
  if change ? 'max_api_keys' then
    -- Mints for sub-accounts do not lock this row.
    perform change_fence(of_id);
  end if;
  if change ? 'external_id' then
    perform parent_external_id_begin(change ->> 'external_id');
  end if;
  select * into old from account a where a.id = of_id and a.parent_id is null for no key update;
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
    select p.account_id into holder from parent_external_id p
      where p.external_id = made.external_id and p.account_id <> of_id;
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

  if change ? 'max_sub_accounts' then
    made.max_sub_accounts := (change ->> 'max_sub_accounts')::int;
  end if;
  if change ? 'max_api_keys' then
    made.max_api_keys := (change ->> 'max_api_keys')::int;
  end if;

  if made is distinct from old then
    update account a
      set name = made.name, external_id = made.external_id, metadata = made.metadata,
        max_sub_accounts = made.max_sub_accounts, max_api_keys = made.max_api_keys, updated_at = now()
      where a.id = of_id returning * into made;
  end if;
  outcome := 'done';
  account := to_jsonb(made);
  perform change_note(request, null);
  if made.external_id is distinct from old.external_id then
    seq := coherence_record(array_remove(array[
      'a:' || of_id, parent_external_id_log_key(old.external_id), parent_external_id_log_key(made.external_id)
    ], null));
  elsif change ? 'external_id' then
    seq := coherence_position();
  end if;
end $$;

-- As in 0007, but for the limit. Where that is reached, `account` says what it is.
create or replace function account_create_sub(
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
  if parent.sub_accounts >= coalesce(parent.max_sub_accounts, max_sub_accounts) then
    outcome := 'limit';
    account := jsonb_build_object('limit', coalesce(parent.max_sub_accounts, max_sub_accounts));
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

-- As in 0018, but for the limit.
create or replace function account_import_subs(
  request jsonb, new_rows jsonb, max_sub_accounts int, max_pairs int, is_plan boolean,
  out outcome text, out seq bigint, out results jsonb
) language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
  entry record;
  there account;
  parent account;
  of_row text;
  of_id uuid;
  made int := 0;
  list jsonb[];
  log_keys text[] := '{}';
  awaited text[] := '{}';
begin
  select b.outcome, b.made into outcome, results from change_begin(request) b;
  if outcome is not null then
    seq := case outcome when 'again' then coherence_position() end;
    return;
  end if;
  if not is_plan then
    perform import_begin();
    perform from account a
      where a.id in (
        select r.parent_id from import_parents(new_rows) r
          left join account there on there.parent_id = r.parent_id and there.external_id = r.row_data ->> 'external_id'
        where there.id is null or import_outcome(there, r.row_data, max_pairs) = 'updated'
      )
      order by a.id for no key update;
    perform from account a
      where a.id in (
        select there.id from import_parents(new_rows) r
          join account there on there.parent_id = r.parent_id and there.external_id = r.row_data ->> 'external_id'
        where import_outcome(there, r.row_data, max_pairs) = 'updated'
      )
      order by a.id for no key update;
  end if;
  list := array_fill('{"outcome": "no-account"}'::jsonb, array[jsonb_array_length(new_rows)]);
  -- Ordered by parent, whose counts are then written once.
  for entry in select * from import_parents(new_rows) r order by r.parent_id, r.n loop
    if parent.id is distinct from entry.parent_id then
      if not is_plan then
        perform import_count(parent.id, made);
      end if;
      select * into parent from account a where a.id = entry.parent_id;
      made := 0;
    end if;
    of_id := (entry.row_data ->> 'id')::uuid;
    select * into there from account a
      where a.parent_id = entry.parent_id and a.external_id = entry.row_data ->> 'external_id';
    if found then
      of_id := there.id;
      of_row := import_outcome(there, entry.row_data, max_pairs);
      if of_row = 'updated' and not is_plan then
        update account a
          set name = entry.row_data ->> 'name', metadata = jsonb_strip_nulls(a.metadata || (entry.row_data -> 'metadata')),
            updated_at = now()
          where a.id = of_id;
      end if;
    elsif (select count(*) from jsonb_each(entry.row_data -> 'metadata') m where m.value <> 'null') > max_pairs then
      of_row := 'too-many-pairs';
    elsif parent.sub_accounts + made >= coalesce(parent.max_sub_accounts, max_sub_accounts) then
      of_row := 'limit';
    elsif exists (select from account a where a.id = of_id) then
      of_row := 'id-taken';
    else
      of_row := 'created';
      if not is_plan then
        insert into account (id, parent_id, name, external_id, status, metadata)
          values (of_id, entry.parent_id, entry.row_data ->> 'name', entry.row_data ->> 'external_id', 'active',
            jsonb_strip_nulls(entry.row_data -> 'metadata'))
          on conflict (id) do nothing;
        of_row := case when found then 'created' else 'id-taken' end;
        if of_row = 'created' and made = 0 and parent.active_sub_accounts = 0 then
          log_keys := log_keys || ('n:' || parent.id);
        end if;
      end if;
      made := made + (of_row = 'created')::int;
    end if;
    list[entry.n] := jsonb_build_object('outcome', of_row, 'id', of_id);
    awaited := awaited || array[
      'n:' || entry.parent_id, 'a:' || of_id, 'x:' || entry.parent_id || ':' || (entry.row_data ->> 'external_id')
    ];
  end loop;
  outcome := 'done';
  results := to_jsonb(list);
  if not is_plan then
    perform import_count(parent.id, made);
    perform change_note(request, results);
    if log_keys <> '{}' then
      seq := coherence_record(log_keys);
    end if;
    seq := greatest(seq, coherence_awaited(awaited));
  end if;
end $$;

-- As in 0016, but for the limit. Where that is reached, `key` says what it is.
create or replace function api_key_create(
  request jsonb,
  of_account uuid, new_id uuid, new_name text, new_scopes jsonb, new_digest bytea, new_client_secret_digest bytea,
  new_prefix text, new_last4 text, new_expires_at timestamptz, max_keys int,
  out outcome text, out seq bigint, out key jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  made api_key;
  most int;
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
  most := api_key_limit(of_account, max_keys);
  if api_key_count(of_account) >= most then
    outcome := 'limit';
    key := jsonb_build_object('limit', most);
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

-- As in 0016, but for the limit. Where that is reached, `keys` says what it is.
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
    from fresh join counted c on c.owner = fresh.owner where c.keys > api_key_limit(of_parent, max_keys);
  if faults is not null then
    outcome := 'limit';
    keys := jsonb_build_object('limit', api_key_limit(of_parent, max_keys));
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

-- As in 0018, but for the limit.
create or replace function api_key_import_rows(
  request jsonb, new_rows jsonb, max_keys int, is_plan boolean, out outcome text, out seq bigint, out results jsonb
) language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
  entry record;
  there record;
  owner uuid;
  keys_of_owner int;
  most int;
  of_row text;
  of_id uuid;
  list jsonb[];
  log_keys text[] := '{}';
begin
  select b.outcome, b.made into outcome, results from change_begin(request) b;
  if outcome is not null then
    seq := case outcome when 'again' then coherence_position() end;
    return;
  end if;
  if not is_plan then
    perform fleet_require(2);
    perform import_begin();
    -- Nor beside an `api_key_import`, which may hold the same keys.
    perform pg_advisory_xact_lock(7311970454);
    -- Mints queue up behind these locks, and are counted.
    perform from account a
      where a.id in (
        select r.parent_id from import_owners(new_rows) r
        where not exists (select from api_key k where k.digest = (r.row_data ->> 'digest')::bytea)
      )
      order by a.id for no key update;
    perform from account a
      where a.id in (
        select r.owner_id from import_owners(new_rows) r
        where r.owner_id <> r.parent_id
          and not exists (select from api_key k where k.digest = (r.row_data ->> 'digest')::bytea)
      )
      order by a.id for no key update;
  end if;
  list := array_fill('{"outcome": "no-account"}'::jsonb, array[jsonb_array_length(new_rows)]);
  -- Ordered by owner, whose keys are then counted once.
  for entry in select * from import_owners(new_rows) r order by r.owner_id, r.n loop
    of_id := (entry.row_data ->> 'id')::uuid;
    if entry.owner_id is distinct from owner then
      owner := entry.owner_id;
      keys_of_owner := api_key_count(owner);
      most := api_key_limit(owner, max_keys);
    end if;
    select k.id, k.account_id into there from api_key k where k.digest = (entry.row_data ->> 'digest')::bytea;
    if found and there.account_id is distinct from owner then
      of_row := 'key-taken';
      of_id := null;
    elsif found then
      of_row := 'unchanged';
      of_id := there.id;
    elsif owner is null then
      of_row := 'no-sub-account';
      of_id := null;
    elsif keys_of_owner >= most then
      of_row := 'limit';
      of_id := null;
    else
      of_row := 'created';
      keys_of_owner := keys_of_owner + 1;
      if not is_plan then
        insert into api_key (id, account_id, name, scopes, digest, prefix, last4, expires_at)
          select k.id, owner, k.name, k.scopes, k.digest, k.prefix, k.last4, k.expires_at
          from jsonb_to_record(entry.row_data) as k (
            id uuid, name text, scopes text[], digest bytea, prefix text, last4 text, expires_at timestamptz
          );
        log_keys := log_keys || api_key_log_key((entry.row_data ->> 'digest')::bytea);
      end if;
    end if;
    list[entry.n] := jsonb_build_object('outcome', of_row, 'id', of_id);
  end loop;
  if is_plan then
    -- Of an account that is not there yet nothing can be said but this.
    select array_agg(
        case when list[r.n] ->> 'outcome' = 'no-account' and k.digest is not null
          then '{"outcome": "key-taken"}'::jsonb else list[r.n] end order by r.n
      ) into list
      from jsonb_array_elements(new_rows) with ordinality r (row_data, n)
        left join api_key k on k.digest = (r.row_data ->> 'digest')::bytea;
  end if;
  outcome := 'done';
  results := to_jsonb(list);
  if not is_plan then
    perform change_note(request, results);
    seq := case when log_keys <> '{}' then coherence_record(log_keys) else coherence_position() end;
  end if;
end $$;
