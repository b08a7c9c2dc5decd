-- compatible with: 6
-- Functions that are new. Written by `npm run generate` from schema/functions/.

-- They stand in the order of their names, and call each other.
set local check_function_bodies = off;


-- accounts/account_create_parent.sql
create or replace function account_create_parent(
  request jsonb, new_id uuid, new_name text, new_external_id text, new_metadata jsonb,
  out outcome text, out seq bigint, out holder uuid, out account jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  parent account;
begin
  select b.outcome, b.made into outcome, account from change_begin(request) b;
  if outcome is not null then
    seq := case when outcome = 'again' and account ->> 'external_id' is not null then coherence_position() end;
    return;
  end if;
  if new_external_id is not null then
    perform parent_external_id_begin(new_external_id);
    select p.account_id into holder from parent_external_id p where p.external_id = new_external_id;
    if found then
      outcome := 'taken';
      return;
    end if;
  end if;
  insert into account (id, name, external_id, status, metadata, sub_accounts, active_sub_accounts)
    values (new_id, new_name, new_external_id, 'active', new_metadata, 0, 0)
    on conflict (id) do nothing returning * into parent;
  if not found then
    outcome := 'id-taken';
    return;
  end if;
  outcome := 'done';
  account := to_jsonb(parent);
  seq := change_end(request, account);
  if new_external_id is not null then
    seq := coherence_awaited(array[external_id_log_key(parent)]);
  end if;
end $$;

-- accounts/account_create_sub.sql
create or replace function account_create_sub(
  request jsonb,
  new_parent uuid, new_id uuid, new_name text, new_external_id text, new_metadata jsonb, max_sub_accounts int,
  out outcome text, out seq bigint, out holder uuid, out account jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  parent account;
  made account;
  limited account;
begin
  select b.outcome, b.made into outcome, account from change_begin(request) b;
  if outcome is not null then
    -- 'again': an earlier request made this change, and some replicas may not have confirmed it yet. So this request
    -- waits for the current position, which is at least as new as the change's position.
    seq := case outcome when 'again' then coherence_position() end;
    return;
  end if;
  perform limits_begin(request -> 'limits');
  limited := account_limited(limited, request -> 'limits');
  if limited.burst is not null and limited.requests_per_second is null then
    outcome := 'burst-alone';
    return;
  end if;
  -- The lock lets only one sub-account of a parent be created at a time. So each creation sees the count and the
  -- external_ids of the sub-accounts created before.
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

  insert into account
      (id, parent_id, name, external_id, status, metadata,
        requests_per_second, burst, requests_per_minute, requests_per_day, requests_per_month)
    values (new_id, new_parent, new_name, new_external_id, 'active', new_metadata,
      limited.requests_per_second, limited.burst, limited.requests_per_minute, limited.requests_per_day,
      limited.requests_per_month)
    returning * into made;
  update account a set sub_accounts = a.sub_accounts + 1, active_sub_accounts = a.active_sub_accounts + 1
    where a.id = new_parent;
  outcome := 'done';
  account := to_jsonb(made);
  -- The 2xx waits until every replica has confirmed `seq`. If this change logs nothing, the 2xx waits for earlier
  -- changes instead: one that gave the parent an active sub-account, or one by which another account gave up the
  -- external_id. Some replicas may not have confirmed these changes yet.
  seq := coalesce(
    change_end(request, account),
    coherence_awaited(array['n:' || new_parent, external_id_log_key(made)])
  );
end $$;

-- accounts/account_create_sub_with_id.sql
create or replace function account_create_sub_with_id(
  request jsonb,
  new_parent uuid, new_id uuid, new_name text, new_external_id text, new_metadata jsonb, max_sub_accounts int,
  out outcome text, out seq bigint, out holder uuid, out account jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  violated text;
begin
  select c.outcome, c.seq, c.holder, c.account into outcome, seq, holder, account from account_create_sub(
    request, new_parent, new_id, new_name, new_external_id, new_metadata, max_sub_accounts
  ) c;
exception when unique_violation then
  get stacked diagnostics violated = constraint_name;
  if violated <> 'account_pkey' then
    raise;
  end if;
  outcome := 'id-taken';
end $$;

-- accounts/account_import.sql
create or replace function account_import(
  request jsonb, new_rows jsonb, max_pairs int, is_plan boolean, out outcome text, out seq bigint, out results jsonb
) language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
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
    awaited := awaited || array['a:' || of_id, 'x:00000000-0000-0000-0000-000000000000:' || (entry.row_data ->> 'external_id')];
  end loop;
  outcome := 'done';
  results := to_jsonb(list);
  if not is_plan then
    seq := greatest(change_end(request, results), coherence_awaited(awaited));
  end if;
end $$;

-- accounts/account_import_subs.sql
create or replace function account_import_subs(
  request jsonb, new_rows jsonb, max_sub_accounts int, max_pairs int, is_plan boolean,
  out outcome text, out seq bigint, out results jsonb
) language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
#variable_conflict use_column
declare
  entry record;
  there account;
  parent account;
  of_row text;
  of_id uuid;
  made int := 0;
  list jsonb[];
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
  -- Rows are ordered by parent, so that each parent's counts are written once.
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
    seq := greatest(change_end(request, results), coherence_awaited(awaited));
  end if;
end $$;

-- accounts/account_index.sql
create or replace function account_index() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    delete from parent_external_id p where p.account_id = old.id;
  end if;
  if tg_op = 'INSERT' then
    insert into account_listed (owner_id, created_at, id)
      values (coalesce(new.parent_id, '00000000-0000-0000-0000-000000000000'), new.created_at, new.id)
      on conflict do nothing;
  elsif tg_op = 'DELETE' then
    delete from account_listed l
      where l.owner_id = coalesce(old.parent_id, '00000000-0000-0000-0000-000000000000')
        and l.created_at = old.created_at and l.id = old.id;
    return null;
  end if;
  if new.parent_id is null and new.external_id is not null then
    insert into parent_external_id (external_id, account_id) values (new.external_id, new.id);
  end if;
  return null;
end $$;

-- accounts/account_limited.sql
create or replace function account_limited(a account, limits jsonb) returns account language plpgsql immutable as $$
begin
  if limits ? 'requests_per_second' then
    a.requests_per_second := (limits ->> 'requests_per_second')::int;
  end if;
  if limits ? 'burst' then
    a.burst := (limits ->> 'burst')::int;
  end if;
  if limits ? 'requests_per_minute' then
    a.requests_per_minute := (limits ->> 'requests_per_minute')::int;
  end if;
  if limits ? 'requests_per_day' then
    a.requests_per_day := (limits ->> 'requests_per_day')::bigint;
  end if;
  if limits ? 'requests_per_month' then
    a.requests_per_month := (limits ->> 'requests_per_month')::bigint;
  end if;
  return a;
end $$;

-- accounts/account_put_sub.sql
create or replace function account_put_sub(
  request jsonb,
  of_parent uuid, of_external_id text, new_id uuid, new_name text, new_metadata jsonb, max_sub_accounts int, max_pairs int,
  out outcome text, out seq bigint, out created boolean, out account jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  there account;
begin
  created := false;
  select b.outcome into outcome from change_begin(request) b;
  if outcome is not null then
    return;
  end if;
  select * into there from account a where a.parent_id = of_parent and a.external_id = of_external_id;
  if found and there.name = new_name and there.metadata = jsonb_strip_nulls(there.metadata || new_metadata)
    and account_limited(there, request -> 'limits') is not distinct from there
  then
    outcome := 'done';
    account := to_jsonb(there);
    seq := change_end(request, null);
  else
    perform from account a where a.id = of_parent and a.parent_id is null for no key update;
    if not found then
      outcome := 'no-parent';
      return;
    end if;
    select * into there from account a where a.parent_id = of_parent and a.external_id = of_external_id;
    if found then
      select c.outcome, c.seq, c.account into outcome, seq, account from account_update_sub(
        request, of_parent, there.id,
        jsonb_build_object('name', new_name, 'metadata', new_metadata)
          || case when request ? 'limits' then jsonb_build_object('limits', request -> 'limits') else '{}' end,
        max_pairs
      ) c;
    elsif (select count(*) from jsonb_each(new_metadata) m where m.value <> 'null') > max_pairs then
      outcome := 'too-many-pairs';
    else
      select c.outcome, c.seq, c.account into outcome, seq, account from account_create_sub(
        request, of_parent, new_id, new_name, of_external_id, jsonb_strip_nulls(new_metadata), max_sub_accounts
      ) c;
      created := outcome = 'done';
    end if;
  end if;
  if outcome = 'done' then
    seq := greatest(seq, coherence_awaited(array[
      'n:' || of_parent, 'a:' || (account ->> 'id'), 'x:' || of_parent || ':' || of_external_id
    ]));
  end if;
end $$;

-- accounts/account_recount.sql
create or replace function account_recount(of_parent uuid) returns void language plpgsql as $$
begin
  perform from account a where a.id = of_parent for no key update;
  -- This query's snapshot is newer than the lock, so the counts include every change committed before the lock was
  -- granted.
  update account a set sub_accounts = c.every, active_sub_accounts = c.active
    from (
      select count(*) as every, count(*) filter (where s.status = 'active') as active
      from account s where s.parent_id = of_parent
    ) c
    where a.id = of_parent and (a.sub_accounts, a.active_sub_accounts) is distinct from (c.every, c.active);
end $$;

-- accounts/account_set_parent_status.sql
create or replace function account_set_parent_status(
  request jsonb, of_id uuid, new_status text, out outcome text, out seq bigint, out account jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  made account;
begin
  select b.outcome, b.made into outcome, account from change_begin(request) b;
  if outcome is not null then
    if outcome = 'again' then
      seq := coherence_position();
      account := coalesce(account, (select to_jsonb(a) from account a where a.id = of_id and a.parent_id is null));
    end if;
    return;
  end if;
  perform change_fence(of_id);
  select * into made from account a where a.id = of_id and a.parent_id is null for no key update;
  if not found then
    outcome := 'none';
    return;
  end if;
  if made.status <> new_status then
    update account a set status = new_status, updated_at = now() where a.id = of_id returning * into made;
  end if;
  outcome := 'done';
  account := to_jsonb(made);
  seq := coalesce(change_end(request, account), coherence_position());
end $$;

-- accounts/account_set_sub_status.sql
create or replace function account_set_sub_status(
  request jsonb, of_parent uuid, of_id uuid, new_status text, out outcome text, out seq bigint, out account jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  made account;
begin
  select b.outcome, b.made into outcome, account from change_begin(request) b;
  if outcome is not null then
    if outcome = 'again' then
      seq := coherence_position();
      account := coalesce(
        account, (select to_jsonb(a) from account a where a.id = of_id and a.parent_id = of_parent)
      );
    end if;
    return;
  end if;
  perform from account a where a.id = of_parent for no key update;
  select * into made from account a where a.id = of_id and a.parent_id = of_parent for no key update;
  if not found then
    outcome := 'none';
    return;
  end if;
  if made.status <> new_status then
    update account a
      set status = new_status, updated_at = now(),
        deactivated_at = case when new_status = 'deactivated' then now() end
      where a.id = of_id returning * into made;
    update account a set active_sub_accounts = a.active_sub_accounts + case when new_status = 'active' then 1 else -1 end
      where a.id = of_parent;
  end if;
  outcome := 'done';
  account := to_jsonb(made);
  seq := coalesce(change_end(request, account), coherence_position());
end $$;

-- accounts/account_uncounted.sql
create or replace function account_uncounted(of_parent uuid) returns void language plpgsql as $$
declare
  noted constant text := coalesce(current_setting('tenancy_gateway.uncounted', true), '');
begin
  if strpos(noted, of_parent::text) = 0 then
    perform set_config('tenancy_gateway.uncounted', concat_ws(' ', nullif(noted, ''), of_parent), true);
  end if;
end $$;

-- accounts/account_update_parent.sql
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
  perform limits_begin(change -> 'limits');
  if change ? 'max_api_keys' then
    -- The creation of a sub-account's key reads `max_api_keys` without locking this row. So the fence keeps the
    -- parent's API keys from creating keys while this update runs.
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

  made := account_limited(made, change -> 'limits');
  if made.burst is not null and made.requests_per_second is null then
    outcome := 'burst-alone';
    return;
  end if;

  if made is distinct from old then
    update account a
      set name = made.name, external_id = made.external_id, metadata = made.metadata,
        max_sub_accounts = made.max_sub_accounts, max_api_keys = made.max_api_keys,
        requests_per_second = made.requests_per_second, burst = made.burst, requests_per_minute = made.requests_per_minute,
        requests_per_day = made.requests_per_day, requests_per_month = made.requests_per_month,
        updated_at = now()
      where a.id = of_id returning * into made;
  end if;
  outcome := 'done';
  account := to_jsonb(made);
  seq := change_end(request, null);
  if seq is null and change ?| array['external_id', 'limits'] then
    seq := coherence_position();
  end if;
end $$;

-- accounts/account_update_sub.sql
create or replace function account_update_sub(
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
  perform limits_begin(change -> 'limits');
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

  made := account_limited(made, change -> 'limits');
  if made.burst is not null and made.requests_per_second is null then
    outcome := 'burst-alone';
    return;
  end if;

  if made is distinct from old then
    update account a
      set name = made.name, external_id = made.external_id, metadata = made.metadata,
        requests_per_second = made.requests_per_second, burst = made.burst, requests_per_minute = made.requests_per_minute,
        requests_per_day = made.requests_per_day, requests_per_month = made.requests_per_month,
        updated_at = now()
      where a.id = of_id returning * into made;
  end if;
  outcome := 'done';
  account := to_jsonb(made);
  seq := change_end(request, null);
  if seq is null and change ?| array['external_id', 'limits'] then
    seq := coherence_position();
  end if;
end $$;

-- accounts/external_id_log_key.sql
create or replace function external_id_log_key(a account) returns text language sql stable as $$
  select 'x:' || coalesce(a.parent_id, '00000000-0000-0000-0000-000000000000') || ':' || a.external_id
$$;

-- accounts/import_begin.sql
create or replace function import_begin() returns void language sql volatile as $$
  select pg_advisory_xact_lock(7311970457)
$$;

-- accounts/import_count.sql
create or replace function import_count(of_parent uuid, made int) returns void language sql volatile as $$
  update account a set sub_accounts = a.sub_accounts + made, active_sub_accounts = a.active_sub_accounts + made
    where a.id = of_parent and made > 0
$$;

-- accounts/import_outcome.sql
create or replace function import_outcome(there account, new_row jsonb, max_pairs int) returns text language sql stable as $$
  select case
    when (new_row ->> 'id_given')::boolean and there.id <> (new_row ->> 'id')::uuid then 'external-id-taken'
    when there.name = new_row ->> 'name' and m.merged = there.metadata then 'unchanged'
    when (select count(*) from jsonb_object_keys(m.merged)) > max_pairs then 'too-many-pairs'
    else 'updated'
  end
  from jsonb_strip_nulls(there.metadata || (new_row -> 'metadata')) m (merged)
$$;

-- accounts/import_parents.sql
create or replace function import_parents(new_rows jsonb) returns table (n bigint, row_data jsonb, parent_id uuid)
language sql stable as $$
  select r.n, r.row_data, a.id
  from jsonb_array_elements(new_rows) with ordinality r (row_data, n)
    left join parent_external_id p
      on r.row_data ->> 'parent' is null and p.external_id = r.row_data ->> 'parent_external_id'
    join account a on a.id = coalesce((r.row_data ->> 'parent')::uuid, p.account_id) and a.parent_id is null
$$;

-- accounts/parent_external_id_begin.sql
create or replace function parent_external_id_begin(wanted text) returns void language plpgsql as $$
begin
  if wanted is not null then
    perform fleet_require(2);
  end if;
  perform pg_advisory_xact_lock(7311970455);
end $$;

-- api-keys/api_key_count.sql
create or replace function api_key_count(of_account uuid) returns bigint language sql stable as $$
  select count(*) from api_key k
  where k.account_id = of_account and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
$$;

-- api-keys/api_key_create.sql
create or replace function api_key_create(
  request jsonb, of_account uuid, new_key jsonb, max_keys int,
  out outcome text, out seq bigint, out key jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  draft api_key;
  made api_key;
  most int;
begin
  select b.outcome, b.made into outcome, key from change_begin(request) b;
  if outcome is not null then
    return;
  end if;
  perform limits_begin(request -> 'limits');
  draft := api_key_limited(jsonb_populate_record(null::api_key, new_key), request -> 'limits');
  if draft.burst is not null and draft.requests_per_second is null then
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
  draft.account_id := of_account;
  draft.created_at := now();
  perform set_config('tenancy_gateway.minted', draft.id::text, true);
  insert into api_key select (draft).* returning * into made;
  outcome := 'done';
  key := api_key_json(made);
  seq := change_end(request, key);
end $$;

-- api-keys/api_key_import.sql
create or replace function api_key_import(
  request jsonb, of_parent uuid, new_keys jsonb, max_keys int,
  out outcome text, out seq bigint, out imported int, out keys jsonb, out faults jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  made jsonb;
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
  -- Only one import runs at a time, because two imports may contain the same keys for different accounts.
  perform pg_advisory_xact_lock(7311970454);
  perform from account a where a.id = of_parent and a.parent_id is null for no key update;
  if not found then
    outcome := 'none';
    return;
  end if;
  -- Creating a key takes the same lock on its account, so the count below includes all keys created so far. Rows are
  -- locked in id order, as in `account_import_subs`, so the two functions cannot deadlock.
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
  ), counted as materialized (
    -- Each owner's existing keys are counted once, before the join. After the join, PostgreSQL would count them again
    -- for every new key.
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
    insert into api_key (id, account_id, name, scopes, digest, prefix, last4, expires_at, imported_under)
      select k.id, k.owner, k.name, k.scopes, k.digest, k.prefix, k.last4, k.expires_at, k.imported_under
      from jsonb_to_recordset(new_keys) as k (
        id uuid, owner uuid, name text, scopes text[], digest bytea, prefix text, last4 text, expires_at timestamptz,
        imported_under text
      )
      on conflict (digest) do nothing
      returning digest
  )
  select count(*) into imported from fresh;
  select jsonb_agg(api_key_json(there) order by k.n) into keys
    from jsonb_array_elements(new_keys) with ordinality k (key, n)
      join api_key there on there.digest = (k.key ->> 'digest')::bytea;
  outcome := 'done';
  seq := coalesce(change_end(request, jsonb_build_object('imported', imported, 'keys', keys)), coherence_position());
end $$;

-- api-keys/api_key_import_rows.sql
create or replace function api_key_import_rows(
  request jsonb, new_rows jsonb, max_keys int, is_plan boolean, out outcome text, out seq bigint, out results jsonb
) language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
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
begin
  select b.outcome, b.made into outcome, results from change_begin(request) b;
  if outcome is not null then
    seq := case outcome when 'again' then coherence_position() end;
    return;
  end if;
  if not is_plan then
    perform fleet_require(2);
    perform import_begin();
    -- `api_key_import` takes this lock, too, because both functions may be importing the same keys.
    perform pg_advisory_xact_lock(7311970454);
    -- Creating a key takes the same lock on its account, so the counts below include all keys created so far.
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
  -- Rows are ordered by owner, so that each owner's keys are counted once.
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
        insert into api_key (id, account_id, name, scopes, digest, prefix, last4, expires_at, imported_under)
          select k.id, owner, k.name, k.scopes, k.digest, k.prefix, k.last4, k.expires_at, k.imported_under
          from jsonb_to_record(entry.row_data) as k (
            id uuid, name text, scopes text[], digest bytea, prefix text, last4 text, expires_at timestamptz,
            imported_under text
          );
      end if;
    end if;
    list[entry.n] := jsonb_build_object('outcome', of_row, 'id', of_id);
  end loop;
  if is_plan then
    -- This is only a plan: the actual import may first create an account that does not exist yet. So a row for a
    -- missing account is rejected only if another account already has the row's key.
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
    seq := coalesce(change_end(request, results), coherence_position());
  end if;
end $$;

-- api-keys/api_key_is_active.sql
create or replace function api_key_is_active(k api_key) returns boolean language sql volatile as $$
  select k.revoked_at is null and (k.expires_at is null or k.expires_at > clock_timestamp())
$$;

-- api-keys/api_key_limit.sql
create or replace function api_key_limit(of_account uuid, configured int) returns int language sql stable as $$
  select coalesce(
    (
      select parent.max_api_keys from account a join account parent on parent.id = coalesce(a.parent_id, a.id)
      where a.id = of_account
    ),
    configured
  )
$$;

-- api-keys/api_key_limited.sql
create or replace function api_key_limited(k api_key, limits jsonb) returns api_key language plpgsql immutable as $$
begin
  if limits ? 'requests_per_second' then
    k.requests_per_second := (limits ->> 'requests_per_second')::int;
  end if;
  if limits ? 'burst' then
    k.burst := (limits ->> 'burst')::int;
  end if;
  if limits ? 'requests_per_minute' then
    k.requests_per_minute := (limits ->> 'requests_per_minute')::int;
  end if;
  return k;
end $$;

-- api-keys/api_key_revoke.sql
create or replace function api_key_revoke(
  request jsonb, of_account uuid, of_id uuid, out outcome text, out seq bigint, out key jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  made api_key;
begin
  select b.outcome, b.made into outcome, key from change_begin(request) b;
  if outcome is not null then
    if outcome = 'again' then
      seq := coherence_position();
      key := coalesce(
        key, (select api_key_json(k) from api_key k where k.id = of_id and k.account_id = of_account)
      );
    end if;
    return;
  end if;
  perform change_fence(of_account);
  select * into made from api_key k where k.id = of_id and k.account_id = of_account for no key update;
  if not found then
    outcome := 'none';
    return;
  end if;
  if made.revoked_at is null then
    update api_key k set revoked_at = now() where k.id = of_id returning * into made;
  end if;
  outcome := 'done';
  key := api_key_json(made);
  seq := coalesce(change_end(request, key), coherence_position());
end $$;

-- api-keys/api_key_revoke_all.sql
create or replace function api_key_revoke_all(
  request jsonb, of_account uuid, out outcome text, out seq bigint, out revoked int
) language plpgsql as $$
#variable_conflict use_column
declare
  made jsonb;
begin
  select b.outcome, b.made into outcome, made from change_begin(request) b;
  if outcome is not null then
    if outcome = 'again' then
      seq := coherence_position();
      revoked := (made ->> 'revoked')::int;
    end if;
    return;
  end if;
  -- A rotation takes this fence, too, and creating or importing keys locks the account. So this call waits for
  -- rotations, creations and imports that have begun, and the query below sees their keys. Rotations, creations and
  -- imports that begin later wait for this call.
  perform change_fence(of_account);
  perform from account a where a.id = of_account for no key update;
  if not found then
    outcome := 'none';
    return;
  end if;
  -- Keys are locked in id order. `usage_count` locks them in the same order, so the two functions cannot deadlock.
  perform from api_key k where k.account_id = of_account and k.revoked_at is null order by k.id for no key update;
  update api_key k set revoked_at = now() where k.account_id = of_account and k.revoked_at is null;
  get diagnostics revoked = row_count;
  outcome := 'done';
  seq := coalesce(change_end(request, jsonb_build_object('revoked', revoked)), coherence_position());
end $$;

-- api-keys/api_key_rotate.sql
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
  select b.outcome, b.made into outcome, key from change_begin(request) b;
  if outcome is not null then
    -- 'again': an earlier request made this change, and some replicas may not have confirmed it yet. So this request
    -- waits for the current position, which is at least as new as the change's position.
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

  lineage := coalesce(old.limit_id, old.rotated_from, of_id);
  others := array(
    select k.id from api_key k
    where k.account_id = of_account and k.revoked_at is null and api_key_is_active(k)
      and coalesce(k.limit_id, k.rotated_from, k.id) = lineage and (k.id <> of_id or overlap_s > 0)
    order by k.created_at desc, k.id desc
  );
  if cardinality(others) > 1 then
    outcome := 'rotated';
    key := jsonb_build_object('newest', others[1]);
    return;
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
  key := api_key_json(made);
  seq := change_end(request, key);
end $$;

-- api-keys/api_key_shown.sql
create or replace function api_key_shown(k jsonb) returns jsonb language sql immutable as $$
  select k - array['digest', 'client_secret_digest', 'imported_under']
$$;

-- api-keys/api_key_update.sql
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

  made := api_key_limited(jsonb_populate_record(old, change), change -> 'limits');
  if made.expires_at is distinct from old.expires_at and not api_key_is_active(old) then
    outcome := 'inactive';
    return;
  end if;
  if made.burst is not null and made.requests_per_second is null then
    outcome := 'burst-alone';
    return;
  end if;
  if made is distinct from old then
    update api_key k
      set name = made.name, expires_at = made.expires_at, requests_per_second = made.requests_per_second,
        burst = made.burst, requests_per_minute = made.requests_per_minute
      where k.id = of_id returning * into made;
  end if;
  outcome := 'done';
  key := api_key_json(made);
  seq := change_end(request, null);
  if seq is null and change ?| array['expires_at', 'limits'] then
    seq := coherence_position();
  end if;
end $$;

-- api-keys/import_owners.sql
create or replace function import_owners(new_rows jsonb) returns table (n bigint, row_data jsonb, parent_id uuid, owner_id uuid)
language sql stable as $$
  select r.n, r.row_data, r.parent_id, case when r.row_data ->> 'sub_external_id' is null then r.parent_id else s.id end
  from import_parents(new_rows) r
    left join account s on s.parent_id = r.parent_id and s.external_id = r.row_data ->> 'sub_external_id'
$$;

-- changes/change_begin.sql
create or replace function change_begin(request jsonb, out outcome text, out made jsonb) language plpgsql as $$
#variable_conflict use_column
declare
  claim constant jsonb := request -> 'claim';
  caller constant jsonb := request -> 'caller';
  key_name text;
begin
  perform require_read_committed();
  if caller is not null then
    perform pg_advisory_xact_lock_shared(change_fence_key((caller ->> 'account')::uuid));
    -- This query's snapshot is newer than the lock, so it sees any commit that took the key's rights away before the
    -- lock was granted.
    select case
        when k.revoked_at is not null then 'key-revoked'
        when k.expires_at <= clock_timestamp() then 'key-expired'
        when a.status <> 'active' then 'account-suspended'
      end, k.name into outcome, key_name
      from api_key k join account a on a.id = k.account_id
      where k.id = (caller ->> 'key')::uuid and k.account_id = (caller ->> 'account')::uuid;
    if not found then
      outcome := 'key-unknown';
    end if;
    if outcome is not null then
      return;
    end if;
  end if;
  if request ? 'owner' and not exists (
    select from account a
    where a.id = (request #>> '{owner,id}')::uuid
      and a.parent_id is not distinct from (request #>> '{owner,parent}')::uuid
  ) then
    outcome := 'no-account';
    return;
  end if;
  if caller is not null or request ? 'operator' then
    perform set_config('tenancy_gateway.actor', jsonb_build_object(
      'kind', case when caller is null then 'operator' else 'api_key' end,
      'key_id', caller -> 'key', 'name', coalesce(key_name, request ->> 'operator'),
      'request_id', request -> 'id', 'address', request -> 'address'
    )::text, true);
  end if;
  if claim is null then
    return;
  end if;
  select nullif(c.outcome, 'new'), c.made into outcome, made
    from idempotency_claim(
      (claim ->> 'caller')::uuid, decode(claim ->> 'key', 'hex'), decode(claim ->> 'fingerprint', 'hex')
    ) c;
end $$;

-- changes/change_commit.sql
create or replace function change_commit() returns trigger language plpgsql as $$
declare
  uncounted constant text := current_setting('tenancy_gateway.uncounted', true);
begin
  if uncounted <> '' then
    perform set_config('tenancy_gateway.uncounted', '', true);
    perform account_recount(id::uuid) from unnest(string_to_array(uncounted, ' ')) id order by id;
  end if;
  perform change_position();
  return null;
end $$;

-- changes/change_end.sql
create or replace function change_end(request jsonb, made jsonb) returns bigint language plpgsql as $$
declare
  claim constant jsonb := request -> 'claim';
begin
  if claim is not null then
    perform idempotency_note(
      (claim ->> 'caller')::uuid, decode(claim ->> 'key', 'hex'), decode(claim ->> 'fingerprint', 'hex'), made
    );
  end if;
  -- The change has already updated the sub-account counts, so `change_commit` need not recount.
  perform set_config('tenancy_gateway.uncounted', '', true);
  return change_position();
end $$;

-- changes/change_fence.sql
create or replace function change_fence(account uuid) returns void language sql volatile as $$
  select pg_advisory_xact_lock(change_fence_key(account))
$$;

-- changes/change_fence_key.sql
create or replace function change_fence_key(account uuid) returns bigint language sql immutable as $$
  select hashtextextended('change_fence ' || account::text, 0)
$$;

-- changes/change_position.sql
create or replace function change_position() returns bigint language plpgsql as $$
declare
  touched text := current_setting('tenancy_gateway.touched', true);
  parts constant text := current_setting('tenancy_gateway.touched_parts', true);
begin
  if touched is null or touched = '' then
    return null;
  end if;
  if parts <> '' then
    touched := concat_ws(' ', touched, (
      select string_agg(current_setting('tenancy_gateway.touched_' || n), ' ') from generate_series(1, parts::int) n
    ));
    perform set_config('tenancy_gateway.touched_parts', '', true);
  end if;
  perform set_config('tenancy_gateway.touched', '', true);
  return coherence_take(string_to_array(touched, ' '));
end $$;

-- changes/change_touch.sql
create or replace function change_touch(facts text[]) returns void language plpgsql as $$
declare
  noted text := coalesce(current_setting('tenancy_gateway.touched', true), '');
  part int;
begin
  if facts = '{}' then
    return;
  end if;
  -- Each call rewrites a whole setting. Hand-written SQL may change 100,000 rows, so the facts are split across several
  -- settings that stay short.
  if length(noted) > 30000 then
    part := coalesce(nullif(current_setting('tenancy_gateway.touched_parts', true), ''), '0')::int + 1;
    perform set_config('tenancy_gateway.touched_' || part, noted, true);
    perform set_config('tenancy_gateway.touched_parts', part::text, true);
    noted := '';
  end if;
  perform set_config('tenancy_gateway.touched', concat_ws(' ', nullif(noted, ''), array_to_string(facts, ' ')), true);
end $$;

-- changes/limits_begin.sql
create or replace function limits_begin(limits jsonb) returns void language plpgsql as $$
begin
  if exists (select from jsonb_each(limits) l where l.value <> 'null') then
    perform fleet_require(2);
  end if;
end $$;

-- changes/require_read_committed.sql
create or replace function require_read_committed() returns void language plpgsql as $$
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception using errcode = 'TG003',
      message = 'a change needs the isolation level read committed, and this transaction has '
        || current_setting('transaction_isolation'),
      hint = 'Set default_transaction_isolation to read committed for the role of the gateway.';
  end if;
end $$;

-- coherence/coherence_cluster.sql
create or replace function coherence_cluster() returns text language plpgsql stable as $$
declare
  cluster constant bigint := (select system_identifier from pg_control_system());
begin
  if (select p.prosrc like '%pg_current_wal_lsn%' from pg_proc p where p.oid = 'coherence_incarnation'::regproc) then
    return concat_ws('-', cluster, left(pg_walfile_name(pg_current_wal_lsn()), 8));
  end if;
  return concat_ws('-', cluster, (select timeline_id from pg_control_checkpoint()));
end $$;

-- coherence/coherence_history.sql
create or replace function coherence_history() returns text language plpgsql stable as $$
begin
  return (
    select case when a.named_in = coherence_place() then s.marker::text else 'unnamed' end
    from coherence_seq s, coherence_adopted a
  );
end $$;

-- coherence/coherence_name.sql
create or replace function coherence_name() returns void language plpgsql as $$
begin
  if (select a.named_in from coherence_adopted a) = coherence_place() then
    return;
  end if;
  update coherence_adopted set named_in = coherence_place() where named_in <> coherence_place();
  if found then
    update coherence_seq set marker = gen_random_uuid();
  end if;
end $$;

-- coherence/coherence_place.sql
create or replace function coherence_place() returns text language plpgsql stable as $$
begin
  return (
    select concat_ws(
      '-', coherence_cluster(), (select d.oid from pg_database d where d.datname = current_database()), s.tableoid
    ) from coherence_seq s
  );
end $$;

-- coherence/coherence_prune.sql
create or replace function coherence_prune(of_incarnation text, before bigint, most int) returns boolean language plpgsql as $$
declare
  -- The newest position stays, because it marks the end of the log.
  until constant bigint := least(before, coherence_position());
  start bigint;
  portion bigint;
begin
  if not pg_try_advisory_xact_lock(7311970452) or of_incarnation <> coherence_incarnation() then
    return false;
  end if;
  -- This commit need not survive a crash: if a crash undoes it, the rows and the old floor come back together.
  perform set_config('synchronous_commit', 'off', true);
  select s.floor into start from coherence_seq s;
  select least(
      (select l.seq from coherence_log l where l.seq >= start and l.seq < until order by l.seq offset most - 1 limit 1),
      (select t.seq from coherence_taken t where t.seq >= start and t.seq < until order by t.seq offset most - 1 limit 1)
    ) into portion;
  -- Rows that a change is deleting are skipped and left to that change, because waiting for them could cause a
  -- deadlock.
  delete from coherence_log where ctid = any (array(
    select l.ctid from coherence_log l
    where l.seq >= start and l.seq < until and l.seq <= coalesce(portion, l.seq) for update skip locked
  ));
  delete from coherence_taken t where t.seq >= start and t.seq < coalesce(portion + 1, until);
  update coherence_seq set floor = coalesce(portion + 1, until) where floor < coalesce(portion + 1, until);
  return portion is not null;
end $$;

-- coherence/coherence_take.sql
create or replace function coherence_take(touched text[]) returns bigint language plpgsql as $$
declare
  facts constant text[] := array(select substr(t, 2) from unnest(touched) t);
  ended constant text[] := array(select substr(t, 2) from unnest(touched) t where left(t, 1) = '-');
  taken bigint;
  beside_older boolean;
begin
  perform require_read_committed();
  -- A 2xx is a promise, so it must not depend on a commit that a crash can still undo.
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  delete from coherence_log l where l.key = any (facts) and (not l.withdrawn or l.key = any (ended));
  perform from coherence_seq for no key update;
  -- This call's snapshot is newer than the lock, so it sees every position committed before the lock was granted.
  taken := coherence_position() + 1;
  -- A replica of 0.1.0 lets a stream run until the key's old expiry, even if it reads a new one. While such a replica
  -- may be running, a new expiry is therefore logged as if it were `-`. This ends the streams, and clients reopen them.
  -- A replica of 0.1.0 takes the lock above when it registers. So either this function sees the replica's row, or the
  -- replica reads this change before its first lease.
  beside_older := coherence_reads_v();
  if beside_older then
    update coherence_seq set v = taken;
  end if;
  with position as (insert into coherence_taken (seq) values (taken))
    insert into coherence_log (seq, key, withdrawn)
      select taken, substr(t, 2), bool_or(left(t, 1) = '-' or beside_older and left(t, 1) = '~') from unnest(touched) t group by 2;
  perform pg_notify('tenancy_gateway_coherence', taken::text);
  return taken;
end $$;

-- coherence/fleet_admit.sql
create or replace function fleet_admit(own int) returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(7311970453);
  if own < (select f.level from fleet f) then
    raise exception using errcode = 'TG002',
      message = 'this version cannot enforce what a newer one has stored (docs/operating.md, Upgrade and roll back)';
  end if;
end $$;

-- coherence/fleet_require.sql
create or replace function fleet_require(needed int) returns void language plpgsql as $$
declare
  versions text;
begin
  if needed <= (select f.level from fleet f) then
    return;
  end if;
  perform pg_advisory_xact_lock(7311970453);
  select string_agg(distinct coalesce(r.version, 'before 0.1.0'), ', ') into versions
    from replica r where replica_level(r.nonce) < needed;
  if versions is not null then
    raise exception using errcode = 'TG001', message = 'replicas are registered that cannot enforce this change',
      detail = versions;
  end if;
  update fleet f set level = needed where f.level < needed;
end $$;

-- coherence/replica_level.sql
create or replace function replica_level(nonce text) returns int language sql immutable as $$
  select coalesce(substring(nonce from '^([0-9]{1,6}):')::int, 1)
$$;

-- coherence/replica_renew.sql
create or replace function replica_renew(
  new_id text, new_nonce text, new_lease_ms int, new_version text, new_host text, is_leaving boolean, clock_ahead_ms bigint
) returns void language plpgsql as $$
begin
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  perform coherence_name();
  insert into replica (id, nonce, lease_ms, renewed_at, version, host, leaving)
    values (new_id, '2:' || new_nonce, new_lease_ms, clock_timestamp(), new_version, new_host, is_leaving)
    on conflict (id) do update set nonce = excluded.nonce, lease_ms = excluded.lease_ms,
      renewed_at = excluded.renewed_at, version = excluded.version, host = excluded.host, leaving = excluded.leaving;
  if clock_ahead_ms is not null then
    insert into replica_clock as c (id, ahead_ms) values (new_id, clock_ahead_ms)
      on conflict (id) do update set ahead_ms = excluded.ahead_ms where abs(c.ahead_ms - excluded.ahead_ms) > 100;
  end if;
end $$;

-- compat-0.1.0/coherence_reads_v.sql
create or replace function coherence_reads_v() returns boolean language plpgsql volatile as $$
begin
  return clock_timestamp() < (select coalesce(max(b.until), 'infinity') from released_bodies b)
    or exists (select from replica r where replica_level(r.nonce) < 2);
end $$;

-- events/account_changed.sql
create or replace function account_changed() returns trigger language plpgsql as $$
declare
  kind constant text := case when new.parent_id is null then 'account' else 'sub_account' end;
begin
  if (old.sub_accounts, old.active_sub_accounts) is not distinct from (new.sub_accounts, new.active_sub_accounts) then
    perform event_add(
      coalesce(new.parent_id, new.id),
      array[kind || '.' || case
        when new.status = old.status then 'updated'
        when new.status <> 'active' then new.status
        when new.parent_id is null then 'resumed'
        else 'reactivated'
      end],
      array[case when new.parent_id is not null then new.id end],
      array[to_jsonb(new)],
      array[event_previous(to_jsonb(old), to_jsonb(new))]
    );
  end if;
  perform change_touch(array_remove(array[
    case
      when old.status = 'active' and new.status <> 'active' then '-a:' || old.id
      when (
          old.id, old.parent_id, old.external_id, old.status, old.requests_per_second, old.burst, old.requests_per_minute,
          old.requests_per_day, old.requests_per_month
        ) is distinct from (
          new.id, new.parent_id, new.external_id, new.status, new.requests_per_second, new.burst, new.requests_per_minute,
          new.requests_per_day, new.requests_per_month
        )
        then '+a:' || old.id
    end,
    case when old.external_id is distinct from new.external_id then '+' || external_id_log_key(old) end,
    case when old.external_id is distinct from new.external_id then '+' || external_id_log_key(new) end,
    case when (old.active_sub_accounts = 0) is distinct from (new.active_sub_accounts = 0) then '+n:' || old.id end
  ], null));
  if new.parent_id is not null and old.status <> new.status then
    perform account_uncounted(new.parent_id);
  end if;
  return null;
end $$;

-- events/account_created.sql
create or replace function account_created() returns trigger language plpgsql as $$
declare
  is_parent constant boolean := new.parent_id is null;
begin
  perform event_add(
    coalesce(new.parent_id, new.id), array[case when is_parent then 'account.created' else 'sub_account.created' end],
    array[case when not is_parent then new.id end], array[to_jsonb(new)], array[null::jsonb]
  );
  if not is_parent then
    perform account_uncounted(new.parent_id);
  end if;
  return null;
end $$;

-- events/account_deleted.sql
create or replace function account_deleted() returns trigger language plpgsql as $$
begin
  perform change_touch(array_remove(array[
    '-a:' || old.id, case when old.parent_id is null then '+n:' || old.id end, '+' || external_id_log_key(old)
  ], null));
  if old.parent_id is not null then
    perform account_uncounted(old.parent_id);
  end if;
  return null;
end $$;

-- events/api_key_changed.sql
create or replace function api_key_changed() returns trigger language plpgsql set enable_nestloop = off set jit = off as $$
declare
  rotated constant text := current_setting('tenancy_gateway.rotated', true);
  facts text[];
  of_account uuid;
  types text[];
  subs uuid[];
  objects jsonb[];
  formers jsonb[];
begin
  select array_agg(f.touched) into facts
    from removed o full join made n on n.id = o.id cross join lateral (values
      (case
        when o.revoked_at is null and n.revoked_at is not null or o.digest is distinct from n.digest then '-'
        when o.expires_at is distinct from n.expires_at then '~'
        else '+'
      end || api_key_log_key(o.digest)),
      (case when o.digest is distinct from n.digest then '+' || api_key_log_key(n.digest) end)
    ) f (touched)
    where f.touched is not null and (
        o.id, o.digest, o.account_id, o.scopes, o.expires_at, o.revoked_at, o.rotated_from, o.requests_per_second, o.burst,
        o.requests_per_minute, o.limit_id
      ) is distinct from (
        n.id, n.digest, n.account_id, n.scopes, n.expires_at, n.revoked_at, n.rotated_from, n.requests_per_second, n.burst,
        n.requests_per_minute, n.limit_id
      );
  perform change_touch(coalesce(facts, '{}'));

  for of_account, types, subs, objects, formers in
    select
        coalesce(k.parent_id, k.account_id),
        array_agg('api_key.' || k.happened order by k.id),
        array_agg(case when k.parent_id is not null then k.account_id end order by k.id),
        array_agg(k.object order by k.id),
        array_agg(event_previous(k.former, k.object) order by k.id)
      from (
        select n.id, n.account_id, (select a.parent_id from account a where a.id = n.account_id),
          case when o.revoked_at is null and n.revoked_at is not null then 'revoked' else 'updated' end,
          api_key_shown(to_jsonb(n)), api_key_shown(to_jsonb(o))
        from removed o join made n on n.id = o.id
        where o.last_used_at is not distinct from n.last_used_at and n.id::text is distinct from rotated
          and o is distinct from n
      ) k (id, account_id, parent_id, happened, object, former)
      group by 1 order by 1
  loop
    perform event_add(of_account, types, subs, objects, formers);
  end loop;
  return null;
end $$;

-- events/api_key_created.sql
create or replace function api_key_created() returns trigger language plpgsql as $$
declare
  minted constant text := current_setting('tenancy_gateway.minted', true);
  of_account uuid;
  types text[];
  subs uuid[];
  objects jsonb[];
  formers jsonb[];
begin
  for of_account, types, subs, objects, formers in
    select
        coalesce(a.parent_id, a.id),
        array_agg(case when k.rotated_from is null then 'api_key.created' else 'api_key.rotated' end order by k.id),
        array_agg(case when a.parent_id is not null then a.id end order by k.id),
        array_agg(k.object order by k.id),
        array_agg(case when k.rotated_from is not null then jsonb_build_object('id', k.rotated_from) end order by k.id)
      from (
        select m.id, m.account_id, api_key_shown(to_jsonb(m)), to_jsonb(m) ->> 'rotated_from' from made m
      ) k (id, account_id, object, rotated_from) join account a on a.id = k.account_id
      group by 1 order by 1
  loop
    perform set_config('tenancy_gateway.rotated', formers[1] ->> 'id', true);
    perform event_add(of_account, types, subs, objects, formers);
  end loop;
  perform change_touch(array(
    select '+' || api_key_log_key(m.digest) from made m where minted is distinct from m.id::text
  ));
  return null;
end $$;

-- events/api_key_deleted.sql
create or replace function api_key_deleted() returns trigger language plpgsql as $$
begin
  perform change_touch(array(select '-' || api_key_log_key(r.digest) from removed r));
  return null;
end $$;

-- events/event_add.sql
create or replace function event_add(of_account uuid, types text[], subs uuid[], objects jsonb[], formers jsonb[])
returns void language plpgsql as $$
declare
  actor constant jsonb := nullif(current_setting('tenancy_gateway.actor', true), '')::jsonb;
  tick constant bigint := event_tick(of_account);
begin
  insert into event (
      id, account_id, sub_account_id, type, created_at, actor_kind, actor_key_id, actor_name, request_id, address,
      object, previous
    )
    select
      (
        lpad(to_hex(tick >> 12), 12, '0') || '7' || lpad(to_hex(tick & 4095), 3, '0') || '8' || lpad(to_hex(e.n), 4, '0')
        || right(gen_random_uuid()::text, 11)
      )::uuid,
      of_account, e.sub, e.type, to_timestamp((tick >> 12) / 1000.0),
      coalesce(actor ->> 'kind', 'system'), (actor ->> 'key_id')::uuid, actor ->> 'name', actor ->> 'request_id',
      actor ->> 'address', e.object, e.former
    from unnest(types, subs, objects, formers) with ordinality e (type, sub, object, former, n);
end $$;

-- events/event_append_only.sql
create or replace function event_append_only() returns trigger language plpgsql as $$
begin
  if tg_op <> 'DELETE' or current_setting('tenancy_gateway.event_retention', true) is distinct from 'on' then
    raise integrity_constraint_violation using message = 'events are append-only', constraint = 'event_append_only';
  end if;
  return null;
end $$;

-- events/event_floor.sql
create or replace function event_floor(at timestamptz) returns uuid language sql immutable as $$
  select rpad(lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0'), 32, '0')::uuid
$$;

-- events/event_previous.sql
create or replace function event_previous(before jsonb, after jsonb) returns jsonb language sql immutable as $$
  select coalesce(jsonb_object_agg(b.key, b.value), '{}') from jsonb_each(before) b
  where b.key <> 'updated_at' and after -> b.key is distinct from b.value
$$;

-- events/event_prune.sql
create or replace function event_prune(before timestamptz, days int, most int) returns int language plpgsql as $$
declare
  deleted int;
begin
  if not pg_try_advisory_xact_lock(7311970456) then
    return 0;
  end if;
  -- If a crash undoes this commit, a later call deletes the events again.
  perform set_config('synchronous_commit', 'off', true);
  perform set_config('tenancy_gateway.event_retention', 'on', true);
  delete from event where ctid = any (array(
    select e.ctid from event e
    where e.id < event_floor(least(before, clock_timestamp() - make_interval(days => days))) order by e.id limit most
  ));
  get diagnostics deleted = row_count;
  perform set_config('tenancy_gateway.event_retention', 'off', true);
  return deleted;
end $$;

-- events/event_tick.sql
create or replace function event_tick(of_account uuid) returns bigint language plpgsql volatile as $$
declare
  newest uuid;
begin
  perform pg_advisory_xact_lock(hashtextextended('event ' || of_account::text, 0));
  -- This query's snapshot is newer than the lock. The query compares pairs so that PostgreSQL scans a range of
  -- `event_of_account`; otherwise, PostgreSQL might scan the primary key.
  select e.id into newest from event e
    where e.account_id >= of_account and (e.account_id, e.id) <= (of_account, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
    order by e.account_id desc, e.id desc limit 1;
  return greatest(floor(extract(epoch from clock_timestamp()) * 4096000)::bigint, event_tick_of(newest) + 1);
end $$;

-- events/event_tick_of.sql
create or replace function event_tick_of(id uuid) returns bigint language sql immutable as $$
  select ('x0' || translate(left(id::text, 13), '-', '') || substr(id::text, 16, 3))::bit(64)::bigint
$$;

-- limits/account_quota_changed.sql
create or replace function account_quota_changed() returns trigger language plpgsql as $$
declare
  account constant text := case when new.parent_id is null then 'parent:' else 'sub_account:' end || new.id;
begin
  if old.requests_per_day is null and new.requests_per_day is not null then
    perform quota_forget(account || ':day');
    perform change_touch(array['+q:' || new.id]);
  end if;
  if old.requests_per_month is null and new.requests_per_month is not null then
    perform quota_forget(account || ':month');
    perform change_touch(array['+q:' || new.id]);
  end if;
  update limit_quota q set noted = 0
    where q.noted > 0 and q.limit_name = any (array_remove(array[
      case when old.requests_per_day <> new.requests_per_day then account || ':day' end,
      case when old.requests_per_month <> new.requests_per_month then account || ':month' end
    ], null));
  return null;
end $$;

-- limits/bucket_ask.sql
create or replace function bucket_ask(questions jsonb) returns jsonb language plpgsql as $$
declare
  present timestamptz;
  answers jsonb[] := '{}';
  asked record;
  bucket limit_bucket;
  spare double precision;
  granted double precision;
begin
  -- All calls lock rows in the same order, so two replicas cannot deadlock.
  for asked in
    select q.*
      from rows from (
        jsonb_to_recordset(questions) as (
          "limit" text, capacity double precision, "perSecond" double precision, back double precision,
          needed double precision, ahead double precision
        )
      ) with ordinality q ("limit", capacity, per_second, back, needed, ahead, place)
      order by q."limit"
  loop
    select * into bucket from limit_bucket b where b.limit_name = asked."limit" for update;
    if not found then
      insert into limit_bucket (limit_name, tokens, at, full_at) values (asked."limit", asked.capacity, now(), now())
        on conflict (limit_name) do nothing;
      select * into bucket from limit_bucket b where b.limit_name = asked."limit" for update;
    end if;
    -- The time is read after the row has been locked, so that the row's time never goes backwards.
    present := clock_timestamp();
    bucket.tokens := greatest(0, least(
      asked.capacity,
      bucket.tokens + greatest(0, extract(epoch from present - bucket.at)) * asked.per_second + asked.back
    ));
    spare := greatest(0, floor((bucket.tokens - asked.needed - asked.capacity / 2) / 4));
    granted := least(floor(bucket.tokens + 0.000001), asked.needed + least(asked.ahead, spare));
    bucket.tokens := greatest(0, bucket.tokens - granted);
    update limit_bucket b set
      tokens = bucket.tokens, at = present,
      full_at = present + (asked.capacity - bucket.tokens) / asked.per_second * interval '1 second'
      where b.limit_name = asked."limit";
    answers[asked.place] := jsonb_build_object('granted', granted, 'left', bucket.tokens);
  end loop;
  -- The sweep runs rarely, because it reads the whole table.
  if random() < 0.002 then
    perform bucket_sweep();
  end if;
  return to_jsonb(answers);
end $$;

-- limits/bucket_sweep.sql
create or replace function bucket_sweep() returns void language sql as $$
  delete from limit_bucket b using (
    select f.limit_name from limit_bucket f where f.full_at < now() for update skip locked
  ) full_one
  where b.limit_name = full_one.limit_name
$$;

-- limits/quota_ask.sql
create or replace function quota_ask(of_replica text, questions jsonb) returns jsonb language plpgsql
set enable_seqscan = off set jit = off as $$
declare
  answers jsonb[] := '{}';
  asked record;
  starts timestamptz;
  quota limit_quota;
  held limit_hold;
  free bigint;
  granted bigint;
begin
  -- This commit need not survive a database crash, because the next question repeats the totals.
  perform set_config('synchronous_commit', 'off', true);
  -- All calls lock rows in the same order, so two replicas cannot deadlock.
  for asked in
    select q.*
      from rows from (
        jsonb_to_recordset(questions) as (
          "limit" text, period text, capacity bigint, needed bigint, ahead bigint, series bigint, spent bigint, hand bigint
        )
      ) with ordinality q ("limit", period, capacity, needed, ahead, series, spent, hand, place)
      order by q."limit"
  loop
    starts := date_trunc(asked.period, clock_timestamp(), 'UTC');
    quota := quota_of(asked."limit", starts);
    select * into held from limit_hold h
      where h.limit_name = asked."limit" and h.starts_at = starts and h.replica = of_replica;
    -- A replica that asks about a different series, or none, holds no units of the current one.
    if asked.series is distinct from quota.series then
      asked.spent := coalesce(held.spent, 0);
      asked.hand := 0;
    end if;
    quota.used := quota.used + asked.spent + asked.hand - coalesce(held.spent + held.hand, 0);
    if quota.used + asked.needed > asked.capacity then
      quota.used := quota.used - quota_let_go(asked."limit", starts, of_replica);
    end if;
    -- Units held by one replica cannot be used by the others. So when few units are left, a replica gets only a small
    -- share of them for requests that it merely expects.
    free := greatest(0, asked.capacity - quota.used);
    granted := least(free, asked.needed + least(asked.ahead, greatest(0, free - asked.needed) / 64));
    update limit_quota u set used = quota.used + granted, quota = asked.capacity
      where u.limit_name = asked."limit" and u.starts_at = starts;
    insert into limit_hold as h (limit_name, starts_at, replica, spent, hand, at)
      values (
        asked."limit", starts, of_replica, asked.spent + least(granted, asked.needed),
        asked.hand + granted - least(granted, asked.needed), clock_timestamp()
      )
      on conflict (limit_name, starts_at, replica) do update set
        spent = excluded.spent, hand = excluded.hand, at = excluded.at;
    answers[asked.place] := jsonb_build_object(
      'granted', granted, 'left', free - granted,
      'window', jsonb_build_object(
        'series', quota.series, 'spent', asked.spent,
        'lengthMs', extract(epoch from starts + ('1 ' || asked.period)::interval - starts) * 1000,
        'endsInMs', extract(epoch from starts + ('1 ' || asked.period)::interval - clock_timestamp()) * 1000
      )
    );
  end loop;
  -- The sweep runs rarely, because it reads an index of all windows.
  if random() < 0.002 then
    perform quota_sweep();
  end if;
  return to_jsonb(answers);
end $$;

-- limits/quota_forget.sql
create or replace function quota_forget(of_limit text) returns void language sql as $$
  delete from limit_quota q where q.limit_name = of_limit;
  delete from limit_hold h where h.limit_name = of_limit;
$$;

-- limits/quota_let_go.sql
create or replace function quota_let_go(of_limit text, starts timestamptz, but_replica text) returns bigint language sql as $$
  with gone as (
    select h.replica, h.hand from limit_hold h
      where h.limit_name = of_limit and h.starts_at = starts and h.replica <> but_replica and h.hand > 0
        and h.at < clock_timestamp() - interval '15 seconds'
      for update
  ), let_go as (
    update limit_hold h set hand = 0 from gone g
      where h.limit_name = of_limit and h.starts_at = starts and h.replica = g.replica
      returning g.hand
  )
  select coalesce(sum(l.hand), 0)::bigint from let_go l
$$;

-- limits/quota_note.sql
create or replace function quota_note(of_limit text, of_series bigint, level int) returns void language plpgsql
set enable_seqscan = off set jit = off as $$
declare
  owner account;
  parent uuid;
  noted limit_quota;
begin
  select * into owner from account a where a.id = split_part(of_limit, ':', 2)::uuid;
  if not found then
    return;
  end if;
  parent := coalesce(owner.parent_id, owner.id);
  perform event_tick(parent);
  update limit_quota q set noted = level
    where q.limit_name = of_limit and q.series = of_series and q.noted < level
    returning * into noted;
  if found then
    perform event_add(
      parent,
      array[case level when 1 then 'quota.near' else 'quota.reached' end],
      array[case when owner.parent_id is not null then owner.id end],
      array[jsonb_build_object(
        'period', split_part(of_limit, ':', 3), 'quota', noted.quota, 'used', least(noted.used, noted.quota),
        'starts_at', noted.starts_at
      )],
      array[null::jsonb]
    );
  end if;
end $$;

-- limits/quota_of.sql
create or replace function quota_of(of_limit text, starts timestamptz) returns limit_quota language plpgsql
set enable_seqscan = off set jit = off as $$
declare
  found_one limit_quota;
begin
  select * into found_one from limit_quota q where q.limit_name = of_limit and q.starts_at = starts for update;
  if not found then
    insert into limit_quota (limit_name, starts_at, series, used)
      values (of_limit, starts, nextval('limit_series'), usage_since(of_limit, starts))
      on conflict (limit_name, starts_at) do nothing;
    select * into found_one from limit_quota q where q.limit_name = of_limit and q.starts_at = starts for update;
  end if;
  return found_one;
end $$;

-- limits/quota_sweep.sql
create or replace function quota_sweep() returns void language sql as $$
  delete from limit_hold h using (
    select o.limit_name, o.starts_at, o.replica from limit_hold o
      where o.starts_at < date_trunc('month', now(), 'UTC') for update skip locked
  ) old where (h.limit_name, h.starts_at, h.replica) = (old.limit_name, old.starts_at, old.replica);
  delete from limit_quota q using (
    select o.limit_name, o.starts_at from limit_quota o
      where o.starts_at < date_trunc('month', now(), 'UTC') for update skip locked
  ) old where (q.limit_name, q.starts_at) = (old.limit_name, old.starts_at);
$$;

-- limits/usage_since.sql
create or replace function usage_since(of_limit text, starts timestamptz) returns bigint language plpgsql stable
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  owner constant uuid := split_part(of_limit, ':', 2);
  since constant date := usage_day_of(starts);
  root uuid;
  subs int;
begin
  select coalesce(a.parent_id, a.id), coalesce(a.sub_accounts, 0) into root, subs from account a where a.id = owner;
  if not found or subs > 5000 then
    return 0;
  end if;
  return (
    select coalesce(sum(u.requests), 0)
      from (
        select owner as id
        union all
        select a.id from account a where a.parent_id = owner
      ) of_account
      cross join usage_kept k
      cross join lateral (
        select d.requests from usage_daily d
          where d.root_id = root and d.account_id = of_account.id and d.day >= since
            and d.day < usage_rolled_until(k, root, of_account.id)
        union all
        select h.requests from usage_hourly h
          where h.root_id = root and h.account_id = of_account.id
            and h.hour >= greatest(since, usage_rolled_until(k, root, of_account.id))::timestamp at time zone 'UTC'
        offset 0
      ) u
  );
end $$;

-- usage/usage_add_hours.sql
create or replace function usage_add_hours(added usage_hourly[], keys_per_account_hour int) returns usage_hourly[]
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off as $$
declare
  nil constant uuid := '00000000-0000-0000-0000-000000000000';
  past usage_hourly[];
begin
  with of_hour as (
    select s.root_id, s.account_id, s.hour, array_agg(s order by s.key_id) as rows from unnest(added) s
    group by 1, 2, 3 order by 1, 2, 3
  ), upserted as (
    insert into usage_hourly
    select r.* from of_hour s cross join lateral unnest(case
      when cardinality(s.rows) + (
        select count(*) from (
          select from usage_hourly h
          where h.root_id = s.root_id and h.account_id = s.account_id and h.hour = s.hour and h.key_id > nil
          order by h.key_id limit keys_per_account_hour
        ) h
      ) <= keys_per_account_hour then s.rows
      else usage_share_keys(s.rows, keys_per_account_hour)
    end) r
    on conflict (root_id, account_id, hour, key_id) do update set
      requests = usage_hourly.requests + excluded.requests,
      reads = usage_hourly.reads + excluded.reads,
      writes = usage_hourly.writes + excluded.writes,
      client_errors = usage_hourly.client_errors + excluded.client_errors,
      server_errors = usage_hourly.server_errors + excluded.server_errors,
      bytes_in = usage_hourly.bytes_in + excluded.bytes_in,
      bytes_out = usage_hourly.bytes_out + excluded.bytes_out
    returning usage_hourly.*
  )
  select array_agg(row(u.*)::usage_hourly) into past from upserted u
    where u.hour < date_trunc('day', clock_timestamp() + interval '10 minutes', 'UTC');
  return past;
end $$;

-- usage/usage_add_rows.sql
create or replace function usage_add_rows(
  journal text, from_position bigint, to_position bigint, counts usage_counted[], keys_per_account_hour int,
  through_ms double precision, of_host text
) returns table (rows_in bigint, now_ms double precision) language plpgsql as $$
declare
  known bigint;
begin
  insert into usage_journal (id, through, host) values (journal, coalesce(to_timestamp(through_ms / 1000), now()), of_host)
    on conflict (id) do update set at = now(), forgotten = false
    returning position into known;
  if from_position >= known and to_position > known then
    perform usage_count(counts, keys_per_account_hour);
    known := to_position;
  end if;
  if to_position <= known then
    update usage_journal j set position = known, at = now(),
      through = greatest(j.through, coalesce(to_timestamp(through_ms / 1000), j.through))
      where j.id = journal;
  end if;
  -- A journal's first batch also deletes old journals, so this runs about once per process.
  if known = 0 then
    delete from usage_journal j where j.at < now() - interval '400 days';
  end if;
  return query select known, extract(epoch from clock_timestamp())::double precision * 1000;
end $$;

-- usage/usage_completeness.sql
create or replace function usage_completeness(lost_after interval, period_from timestamptz, period_to timestamptz)
returns table (through timestamptz, incomplete boolean, silent text[]) language sql stable as $$
  with silent as (
    select * from usage_silent(lost_after)
  )
  select
    least(
      now(),
      (select min(r.through) from usage_replica r where r.at > now() - interval '5 minutes'),
      (select min(j.through) from usage_journal j where not exists (select from silent s where s.id = j.id and s.given_up))
    ),
    exists (
      select from silent s
      where s.given_up and s.through < period_to and s.at + interval '1 hour' > period_from
    ),
    array(
      select coalesce(s.host, s.id) from silent s
      where s.through < period_to and (not s.given_up or s.at + interval '1 hour' > period_from)
      order by 1
    )
$$;

-- usage/usage_count.sql
create or replace function usage_count(counts usage_counted[], keys_per_account_hour int) returns void
language plpgsql as $$
declare
  nil constant uuid := '00000000-0000-0000-0000-000000000000';
  added constant usage_hourly[] := array(
    select row(s.*)::usage_hourly from (
      select c.root_id, c.account_id, c.hour, c.key_id, sum(c.requests), sum(c.reads), sum(c.writes),
        sum(c.client_errors), sum(c.server_errors), sum(c.bytes_in), sum(c.bytes_out)
      from unnest(counts) c
      where (c.requests, c.client_errors, c.server_errors, c.bytes_in, c.bytes_out) <> (0, 0, 0, 0, 0)
      group by 1, 2, 3, 4
    ) s
  );
  written usage_hourly[];
  late_until timestamptz;
  late usage_hourly[];
begin
  -- The trigger is off: it would note each late row by itself, under a lock that no other batch can share.
  perform set_config('tenancy_gateway.usage_noted', 'on', true);
  written := usage_add_hours(added, keys_per_account_hour);
  perform set_config('tenancy_gateway.usage_noted', 'off', true);
  late_until := usage_late_until();
  late := array(
    select row(s.*)::usage_hourly from (
      select r.root_id, r.account_id, r.hour, coalesce(w.key_id, nil), sum(r.requests), sum(r.reads), sum(r.writes),
        sum(r.client_errors), sum(r.server_errors), sum(r.bytes_in), sum(r.bytes_out)
      from unnest(added) r left join unnest(written) w using (root_id, account_id, hour, key_id)
      where r.hour < late_until group by 1, 2, 3, 4
    ) s
  );
  if cardinality(late) > 0 then
    -- `usage_late_lock` in shared mode.
    perform pg_advisory_xact_lock_shared(7311970458);
    perform usage_note_late(late, 1);
  end if;

  -- `write_by_default` has nine slots per key, and days that are nine days apart share a slot. If a batch was delayed
  -- for days and contains two such days, only the later day is kept.
  insert into write_by_default as w
    select distinct on (1, 2, 3) c.account_id, c.key_id, (usage_day_of(c.hour) - date '2000-01-01') % 9,
      usage_day_of(c.hour), sum(c.writes_by_default), max(c.last_by_default)
    from unnest(counts) c join account a on a.id = c.account_id
    where c.writes_by_default > 0
    group by 1, 2, 3, 4 order by 1, 2, 3, 4 desc
  on conflict (account_id, key_id, slot) do update set
    requests = excluded.requests + case when w.day = excluded.day then w.requests else 0 end,
    last_at = case when w.day = excluded.day then greatest(w.last_at, excluded.last_at) else excluded.last_at end,
    day = excluded.day
    where w.day <= excluded.day;

  with used as (
    select c.key_id, least(now(), max(c.last_used)) as at from unnest(counts) c group by 1
  ), locked as materialized (
    select k.id, u.at from api_key k join used u on u.key_id = k.id
    where k.last_used_at is null or k.last_used_at < u.at - interval '30 seconds'
    order by k.id for no key update of k skip locked
  )
  update api_key k set last_used_at = l.at from locked l where k.id = l.id;
end $$;

-- usage/usage_day_of.sql
create or replace function usage_day_of(hour timestamptz) returns date language sql immutable as $$
  select (hour at time zone 'UTC')::date
$$;

-- usage/usage_export_begin.sql
create or replace function usage_export_begin(replica uuid, lease interval, settle interval, lost_after interval) returns boolean
language plpgsql as $$
declare
  ready timestamptz;
begin
  update usage_export e set holder = replica, held_until = clock_timestamp() + lease
    where e.holder = replica or e.held_until < clock_timestamp();
  if not found then
    return false;
  end if;
  select date_trunc('hour', least(c.through, clock_timestamp() - settle), 'UTC') into ready
    from usage_completeness(lost_after, now(), now()) c;
  if exists (select from usage_export e where e.began is null or e.closed_until < ready) then
    if usage_fence() then
      -- The first export closes all earlier hours without exporting them. Operators can export them later by
      -- the command `usage export`.
      update usage_export e set closed_until = greatest(e.closed_until, ready), began = coalesce(e.began, ready),
        hour = coalesce(e.hour, ready);
    end if;
  end if;
  if exists (select from usage_late l where l.number = 0) then
    perform usage_late_lock();
    delete from usage_late l where l.number = 0
      and (l.requests, l.reads, l.writes, l.client_errors, l.server_errors, l.bytes_in, l.bytes_out) = (0, 0, 0, 0, 0, 0, 0);
    update usage_late l set number = nextval('usage_late_number') where l.number = 0;
    delete from usage_late l using usage_export e, usage_kept k
      where l.number between 1 and e.corrections and l.hour < k.hours_from;
  end if;
  return true;
end $$;

-- usage/usage_export_hour.sql
create or replace function usage_export_hour(of_hour timestamptz, after uuid, most int)
returns table (account_id uuid, root_id uuid, external_id text, counts bigint[]) language sql stable
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
  with begun as (
    -- Parent of the account `after`; `after` itself if it is a parent or if there is no such account.
    select coalesce((select coalesce(a.parent_id, a.id) from account a where a.id = after), after) as root
  ), roots as materialized (
    select a.id from account a, begun b where a.parent_id is null and a.id >= b.root order by a.id limit most + 1
  ), used as materialized (
    select h.account_id, r.id as root_id, h.counts
    from roots r cross join begun b cross join lateral (
      select h.account_id, array[sum(h.requests), sum(h.reads), sum(h.writes), sum(h.client_errors),
        sum(h.server_errors), sum(h.bytes_in), sum(h.bytes_out)]::bigint[] as counts
      from usage_hourly h
      where h.root_id = r.id and h.hour = of_hour and (r.id <> b.root or h.account_id > after)
        -- A restored backup may lack accounts that were used after it was made.
        and exists (select from account a where a.id = h.account_id)
      group by 1 order by 1 limit most
    ) h
    order by r.id, h.account_id limit most
  )
  select u.account_id, u.root_id, a.external_id, array(
      select n.count - coalesce(l.late[n.at], 0) from unnest(u.counts) with ordinality n (count, at) order by n.at
    )
    from used u join account a on a.id = u.account_id cross join lateral (
      select array[sum(l.requests), sum(l.reads), sum(l.writes), sum(l.client_errors), sum(l.server_errors),
        sum(l.bytes_in), sum(l.bytes_out)]::bigint[] as late
      from usage_late l where l.account_id = u.account_id and l.hour = of_hour
    ) l
  union all
  select coalesce((select u.account_id from used u where u.root_id = r.id order by u.account_id desc limit 1), r.id), r.id, null, null from (
    select id, row_number() over (order by id) as number from roots
  ) r
  where r.number > most and (select count(*) from used) < most
$$;

-- usage/usage_fence.sql
create or replace function usage_fence() returns boolean language plpgsql set lock_timeout = '1s' as $$
begin
  perform pg_advisory_xact_lock(7311970460);
  return true;
exception when lock_not_available then
  return false;
end $$;

-- usage/usage_forget.sql
create or replace function usage_forget(replica text) returns bigint language sql as $$
  with forgotten as (
    update usage_journal j set forgotten = true from usage_silent(interval '1 minute') s
      where s.id = j.id and replica in (s.id, s.host)
      returning 1
  )
  select count(*) from forgotten
$$;

-- usage/usage_hourly_changed.sql
create or replace function usage_hourly_changed() returns trigger language plpgsql as $$
declare
  late_until constant timestamptz := usage_late_until();
begin
  if tg_op <> 'DELETE' and new.hour < late_until then
    perform usage_late_lock();
    perform usage_note_late(array[new], 1);
  end if;
  if tg_op <> 'INSERT' and old.hour < late_until then
    perform usage_late_lock();
    perform usage_note_late(array[old], -1);
  end if;
  return null;
end $$;

-- usage/usage_late_lock.sql
create or replace function usage_late_lock() returns void language sql volatile as $$
  select pg_advisory_xact_lock(7311970458)
$$;

-- usage/usage_late_until.sql
create or replace function usage_late_until() returns timestamptz language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(7311970460);
  return (
    select greatest(e.closed_until, k.rolling_until::timestamp at time zone 'UTC') from usage_export e, usage_kept k
  );
end $$;

-- usage/usage_note_late.sql
create or replace function usage_note_late(changes usage_hourly[], sign int) returns void language plpgsql as $$
declare
  closed timestamptz;
  kept usage_kept;
begin
  select e.closed_until into closed from usage_export e;
  select k.* into kept from usage_kept k;

  insert into usage_late as l (root_id, account_id, hour, requests, reads, writes, client_errors, server_errors, bytes_in, bytes_out)
    select c.root_id, c.account_id, c.hour, sign * sum(c.requests), sign * sum(c.reads), sign * sum(c.writes),
      sign * sum(c.client_errors), sign * sum(c.server_errors), sign * sum(c.bytes_in), sign * sum(c.bytes_out)
    from unnest(changes) c where c.hour < closed group by 1, 2, 3 order by 1, 2, 3
  on conflict (account_id, hour, number) do update set
    requests = l.requests + excluded.requests, reads = l.reads + excluded.reads, writes = l.writes + excluded.writes,
    client_errors = l.client_errors + excluded.client_errors, server_errors = l.server_errors + excluded.server_errors,
    bytes_in = l.bytes_in + excluded.bytes_in, bytes_out = l.bytes_out + excluded.bytes_out;

  insert into usage_daily as d
    select c.root_id, c.account_id, usage_day_of(c.hour), c.key_id, sign * sum(c.requests), sign * sum(c.reads),
      sign * sum(c.writes), sign * sum(c.client_errors), sign * sum(c.server_errors), sign * sum(c.bytes_in),
      sign * sum(c.bytes_out)
    from unnest(changes) c
    where usage_day_of(c.hour) < usage_rolled_until(kept, c.root_id, c.account_id) group by 1, 2, 3, 4 order by 1, 2, 3, 4
  on conflict (root_id, account_id, day, key_id) do update set
    requests = d.requests + excluded.requests, reads = d.reads + excluded.reads, writes = d.writes + excluded.writes,
    client_errors = d.client_errors + excluded.client_errors, server_errors = d.server_errors + excluded.server_errors,
    bytes_in = d.bytes_in + excluded.bytes_in, bytes_out = d.bytes_out + excluded.bytes_out;
  if sign < 0 then
    delete from usage_daily d
      using (select distinct c.root_id, c.account_id, usage_day_of(c.hour) as day, c.key_id from unnest(changes) c) h
      where (d.root_id, d.account_id, d.day, d.key_id) = (h.root_id, h.account_id, h.day, h.key_id)
        and (d.requests, d.reads, d.writes, d.client_errors, d.server_errors, d.bytes_in, d.bytes_out) = (0, 0, 0, 0, 0, 0, 0);
  end if;
end $$;

-- usage/usage_prune_days.sql
create or replace function usage_prune_days(before timestamptz, months int, most int) returns int language plpgsql
set enable_seqscan = off set jit = off as $$
declare
  cutoff constant date := date_trunc('month',
    least(before, clock_timestamp() - make_interval(months => months),
      (select k.rolled_until::timestamp at time zone 'UTC' from usage_kept k)) at time zone 'UTC')::date;
  deleted int;
begin
  if not pg_try_advisory_xact_lock(7311970459) then
    return 0;
  end if;
  perform set_config('synchronous_commit', 'off', true);
  delete from usage_daily where ctid = any (array(
    select d.ctid from usage_daily d where d.day < cutoff order by d.day limit most for update skip locked
  ));
  get diagnostics deleted = row_count;
  if deleted > 0 then
    update usage_kept k set days_from = cutoff where k.days_from < cutoff;
  end if;
  return deleted;
end $$;

-- usage/usage_prune_hours.sql
create or replace function usage_prune_hours(
  before timestamptz, days int, after_root uuid, most int, out deleted int, out next_root uuid
) language plpgsql set enable_seqscan = off set jit = off as $$
declare
  cutoff constant timestamptz :=
    date_trunc('day', least(before, clock_timestamp() - make_interval(days => days),
      (select k.rolled_until::timestamp at time zone 'UTC' from usage_kept k)), 'UTC');
  root uuid := after_root;
  gone int;
begin
  deleted := 0;
  if not pg_try_advisory_xact_lock(7311970459)
    or exists (select from replica r where replica_level(r.nonce) < 2)
  then
    return;
  end if;
  -- The commit need not wait for the disk: if a crash undoes the deletion, a later call deletes the rows again.
  perform set_config('synchronous_commit', 'off', true);
  perform set_config('tenancy_gateway.usage_noted', 'on', true);
  for roots in 1 .. 1000 loop
    next_root := root;
    select h.root_id into root from usage_hourly h where h.root_id > root order by h.root_id limit 1;
    if not found then
      next_root := null;
      exit;
    end if;
    delete from usage_hourly where ctid = any (array(
      select h.ctid from usage_hourly h where h.root_id = root and h.hour < cutoff
        order by h.hour limit most - deleted for update skip locked
    ));
    get diagnostics gone = row_count;
    if gone > 0 then
      update usage_kept k set hours_from = cutoff where k.hours_from < cutoff;
    end if;
    deleted := deleted + gone;
    exit when deleted >= most;
    next_root := root;
  end loop;
  perform set_config('tenancy_gateway.usage_noted', 'off', true);
end $$;

-- usage/usage_roll_up.sql
create or replace function usage_roll_up(most int) returns boolean language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  nil constant uuid := '00000000-0000-0000-0000-000000000000';
  kept usage_kept;
  ready date;
  rows_read bigint := 0;
begin
  if not pg_try_advisory_xact_lock(7311970459) then
    return false;
  end if;
  select k.* into kept from usage_kept k;
  if kept.rolling_until = kept.rolled_until then
    select usage_day_of(c.through) into ready from usage_completeness('1 day', now(), now()) c;
    if ready <= kept.rolled_until then
      return false;
    end if;
    if not usage_fence() then
      return false;
    end if;
    update usage_kept k set rolling_until = ready;
    return true;
  end if;
  perform usage_late_lock();
  -- Each account takes two index look-ups. They cost about as much as reading five rows, so an account counts as five
  -- rows in addition to its own rows.
  while rows_read < most loop
    select h.root_id, h.account_id into kept.root_id, kept.account_id from usage_hourly h
      where (h.root_id, h.account_id) > (kept.root_id, kept.account_id) order by h.root_id, h.account_id limit 1;
    if not found then
      update usage_kept k set rolled_until = k.rolling_until, root_id = nil, account_id = nil;
      return false;
    end if;
    with of_day as (
      select usage_day_of(h.hour) as day, h.key_id, count(*) as n, sum(h.requests) as requests, sum(h.reads) as reads,
        sum(h.writes) as writes, sum(h.client_errors) as client_errors, sum(h.server_errors) as server_errors,
        sum(h.bytes_in) as bytes_in, sum(h.bytes_out) as bytes_out
      from usage_hourly h
      where h.root_id = kept.root_id and h.account_id = kept.account_id
        and h.hour >= kept.rolled_until::timestamp at time zone 'UTC'
        and h.hour < kept.rolling_until::timestamp at time zone 'UTC'
      group by 1, 2
    ), written as (
      insert into usage_daily
        select kept.root_id, kept.account_id, d.day, d.key_id, d.requests, d.reads, d.writes, d.client_errors,
          d.server_errors, d.bytes_in, d.bytes_out from of_day d
      on conflict (root_id, account_id, day, key_id) do update set
        requests = excluded.requests, reads = excluded.reads, writes = excluded.writes,
        client_errors = excluded.client_errors, server_errors = excluded.server_errors,
        bytes_in = excluded.bytes_in, bytes_out = excluded.bytes_out
    )
    select rows_read + 5 + coalesce(sum(n), 0) into rows_read from of_day;
  end loop;
  update usage_kept k set root_id = kept.root_id, account_id = kept.account_id;
  return true;
end $$;

-- usage/usage_rolled_until.sql
create or replace function usage_rolled_until(kept usage_kept, root uuid, account uuid) returns date
language sql immutable as $$
  select case when (root, account) <= (kept.root_id, kept.account_id) then kept.rolling_until else kept.rolled_until end
$$;

-- usage/usage_share_keys.sql
create or replace function usage_share_keys(added usage_hourly[], keys_per_account_hour int) returns usage_hourly[]
language sql stable as $$
  with present as (
    select h.key_id from usage_hourly h
    where (h.root_id, h.account_id, h.hour) = (added[1].root_id, added[1].account_id, added[1].hour)
      and h.key_id > '00000000-0000-0000-0000-000000000000'
    order by h.key_id
  ), numbered as (
    select s, p.key_id is null and row_number() over (partition by p.key_id is null order by s.key_id)
        > keys_per_account_hour - (select count(*) from present) as shares
    from unnest(added) s left join present p using (key_id)
  ), final as (
    select (n.s).root_id, (n.s).account_id, (n.s).hour,
      case when n.shares then '00000000-0000-0000-0000-000000000000' else (n.s).key_id end as key_id,
      sum((n.s).requests), sum((n.s).reads), sum((n.s).writes), sum((n.s).client_errors), sum((n.s).server_errors),
      sum((n.s).bytes_in), sum((n.s).bytes_out)
    from numbered n group by 1, 2, 3, 4
  )
  select array_agg(row(f.*)::usage_hourly order by f.key_id) from final f
$$;

-- usage/usage_silent.sql
create or replace function usage_silent(lost_after interval)
returns table (id text, host text, at timestamptz, through timestamptz, given_up boolean) language sql stable as $$
  select j.id, j.host, j.at, j.through, j.forgotten or j.at <= now() - lost_after - l.longest
  from usage_journal j, (select coalesce(max(r.lease_ms), 0) * interval '1 ms' as longest from replica r) l
  where j.through < 'infinity' and j.at <= now() - least(lost_after, interval '1 minute')
$$;
