-- compatible with: 4
-- Many parents, sub-accounts or keys of any parents in one call: each row is created, changed or left as it is, or left out for
-- a reason of its own. Functions alone: no table is locked.
--
-- `new_rows` is an array of objects; `results` has an object for each, in its order: `outcome`, and `id` where there is one.
-- Outcomes are 'created', 'updated' and 'unchanged', or say why the row was left out: 'no-account' and 'no-sub-account'
-- (what it names is not there), 'external-id-taken' (by an account with another id than the row's), 'id-taken',
-- 'too-many-pairs', 'limit', 'key-taken'. With `is_plan` they say what would happen, and nothing is locked or written.
--
-- A row that names a parent has `parent` (an id) or `parent_external_id`. `seq` covers what the rows had to wait for when they
-- were made, in this call or an earlier one, which may have died before its 2xx.
--
-- A call locks every row that it is going to write before the first write, as single changes do, from the top down: parents,
-- then sub-accounts, each in the order of ids. One call at a time writes.
--
-- A session plans these statements once. Planned while the tables were empty, they would go on reading whole tables when
-- those are large, until statistics are gathered: so they go by indexes.

create function import_begin() returns void language sql volatile as $$
  select pg_advisory_xact_lock(7311970457)
$$;

-- The parents that rows name, by the position of the row; rows whose parent is not there are left out.
create function import_parents(new_rows jsonb) returns table (n bigint, row_data jsonb, parent_id uuid)
language sql stable as $$
  select r.n, r.row_data, a.id
  from jsonb_array_elements(new_rows) with ordinality r (row_data, n)
    left join parent_external_id p
      on r.row_data ->> 'parent' is null and p.external_id = r.row_data ->> 'parent_external_id'
    join account a on a.id = coalesce((r.row_data ->> 'parent')::uuid, p.account_id) and a.parent_id is null
$$;

-- What becomes of an account that is there, where a row says its name and metadata: 'unchanged', 'updated' or why not.
create function import_outcome(there account, new_row jsonb, max_pairs int) returns text language sql stable as $$
  select case
    when (new_row ->> 'id_given')::boolean and there.id <> (new_row ->> 'id')::uuid then 'external-id-taken'
    when there.name = new_row ->> 'name' and m.merged = there.metadata then 'unchanged'
    when (select count(*) from jsonb_object_keys(m.merged)) > max_pairs then 'too-many-pairs'
    else 'updated'
  end
  from jsonb_strip_nulls(there.metadata || (new_row -> 'metadata')) m (merged)
$$;

create function account_import(
  request jsonb, new_rows jsonb, max_pairs int, is_plan boolean, out outcome text, out seq bigint, out results jsonb
) language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
  entry record;
  there account;
  of_row text;
  of_id uuid;
  list jsonb[] := '{}';
  awaited text[] := '{}';
begin
  select b.outcome, b.made into outcome, results from change_begin(request) b;
  if outcome is not null then
    seq := case outcome when 'again' then coherence_position() end;
    return;
  end if;
  if not is_plan then
    perform import_begin();
    perform parent_external_id_begin('any');
    perform from account a
      where a.id in (
        select p.account_id from jsonb_array_elements(new_rows) r (row_data)
          join parent_external_id p on p.external_id = r.row_data ->> 'external_id'
          join account there on there.id = p.account_id
        where import_outcome(there, r.row_data, max_pairs) = 'updated'
      )
      order by a.id for no key update;
  end if;
  for entry in select r.row_data, r.n from jsonb_array_elements(new_rows) with ordinality r (row_data, n) loop
    of_id := (entry.row_data ->> 'id')::uuid;
    select a.* into there from parent_external_id p join account a on a.id = p.account_id
      where p.external_id = entry.row_data ->> 'external_id';
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
    elsif exists (select from account a where a.id = of_id) then
      of_row := 'id-taken';
    else
      of_row := 'created';
      if not is_plan then
        insert into account (id, name, external_id, status, metadata, sub_accounts, active_sub_accounts)
          values (of_id, entry.row_data ->> 'name', entry.row_data ->> 'external_id', 'active',
            jsonb_strip_nulls(entry.row_data -> 'metadata'), 0, 0)
          on conflict (id) do nothing;
        of_row := case when found then 'created' else 'id-taken' end;
      end if;
    end if;
    list[entry.n] := jsonb_build_object('outcome', of_row, 'id', of_id);
    awaited := awaited || array['a:' || of_id, parent_external_id_log_key(entry.row_data ->> 'external_id')];
  end loop;
  outcome := 'done';
  results := to_jsonb(list);
  if not is_plan then
    perform change_note(request, results);
    seq := coherence_awaited(awaited);
  end if;
end $$;

create function account_import_subs(
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
    elsif parent.sub_accounts + made >= max_sub_accounts then
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

-- Counts new sub-accounts of a parent.
create function import_count(of_parent uuid, made int) returns void language sql volatile as $$
  update account a set sub_accounts = a.sub_accounts + made, active_sub_accounts = a.active_sub_accounts + made
    where a.id = of_parent and made > 0
$$;

-- Whose the keys are, as `import_parents`; a row may have `sub_external_id`. `owner_id` is null where there is none such.
create function import_owners(new_rows jsonb) returns table (n bigint, row_data jsonb, parent_id uuid, owner_id uuid)
language sql stable as $$
  select r.n, r.row_data, r.parent_id, case when r.row_data ->> 'sub_external_id' is null then r.parent_id else s.id end
  from import_parents(new_rows) r
    left join account s on s.parent_id = r.parent_id and s.external_id = r.row_data ->> 'sub_external_id'
$$;

-- As `api_key_import`, but for keys of any parents, each by itself.
create function api_key_import_rows(
  request jsonb, new_rows jsonb, max_keys int, is_plan boolean, out outcome text, out seq bigint, out results jsonb
) language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
  entry record;
  there record;
  owner uuid;
  keys_of_owner int;
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
    elsif keys_of_owner >= max_keys then
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
