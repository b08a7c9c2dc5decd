-- compatible with: 6
-- Functions in the place of released ones. Written by `npm run generate` from schema/functions/.

-- They stand in the order of their names, and call each other.
set local check_function_bodies = off;

drop function quota_forget(text);
drop function usage_count(usage_counted[], int);

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
    if outcome = 'again' and (account ->> 'external_id' is not null or account ->> 'plan' is not null) then
      seq := coherence_position();
    end if;
    return;
  end if;
  perform plan_begin_named(array[request ->> 'plan']);
  if new_external_id is not null then
    perform parent_external_id_begin(new_external_id);
    select p.account_id into holder from parent_external_id p where p.external_id = new_external_id;
    if found then
      outcome := 'taken';
      return;
    end if;
  end if;
  if not plan_hold(array[request ->> 'plan']) then
    outcome := 'no-plan';
    return;
  end if;
  insert into account (id, name, external_id, status, metadata, sub_accounts, active_sub_accounts, plan)
    values (new_id, new_name, new_external_id, 'active', new_metadata, 0, 0, request ->> 'plan')
    on conflict (id) do nothing returning * into parent;
  if not found then
    outcome := 'id-taken';
    return;
  end if;
  outcome := 'done';
  account := account_shown(parent);
  seq := change_end(request, account);
  -- The 2xx waits for earlier changes that some replicas may not have confirmed yet: one by which another parent gave up
  -- the external_id, and one of the plan.
  if new_external_id is not null or parent.plan is not null then
    seq := coherence_awaited(array_remove(array[external_id_log_key(parent), 'p:' || parent.plan], null));
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
  select * into parent from account a where a.id = new_parent and a.parent_id is null and a.deleted_at is null for no key update;
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
  perform plan_hold(array[parent.plan]);
  if parent.sub_accounts >= sub_account_limit(parent, max_sub_accounts) then
    outcome := 'limit';
    account := jsonb_build_object('limit', sub_account_limit(parent, max_sub_accounts));
    return;
  end if;

  insert into account
      (id, parent_id, name, external_id, status, metadata,
        requests_per_second, burst, requests_per_minute, requests_per_day, requests_per_month, units_per_month)
    values (new_id, new_parent, new_name, new_external_id, 'active', new_metadata,
      limited.requests_per_second, limited.burst, limited.requests_per_minute, limited.requests_per_day,
      limited.requests_per_month, limited.units_per_month)
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
  has_plan boolean;
  list jsonb[] := '{}';
  awaited text[] := '{}';
begin
  select b.outcome, b.made into outcome, results from change_begin(request) b;
  if outcome is not null then
    seq := case outcome when 'again' then coherence_position() end;
    return;
  end if;
  if not is_plan then
    perform plan_begin_named(array(select distinct r ->> 'plan' from jsonb_array_elements(new_rows) r));
    perform import_begin();
    -- Another plan may lower the maximum number of keys; see `account_update_parent`.
    perform change_fence(f.account_id) from (
      select p.account_id from jsonb_array_elements(new_rows) r (row_data)
        join parent_external_id p on p.external_id = r.row_data ->> 'external_id'
        join account there on there.id = p.account_id
      where r.row_data ? 'plan' and there.plan is distinct from r.row_data ->> 'plan'
      order by p.account_id
    ) f;
    perform parent_external_id_begin('any');
    perform from account a
      where a.id in (
        select p.account_id from jsonb_array_elements(new_rows) r (row_data)
          join parent_external_id p on p.external_id = r.row_data ->> 'external_id'
          join account there on there.id = p.account_id
        where import_outcome(there, r.row_data, max_pairs) = 'updated'
      )
      order by a.id for no key update;
    perform plan_hold(array(
      select r ->> 'plan' from jsonb_array_elements(new_rows) r
      union
      select a.plan from jsonb_array_elements(new_rows) r
        join parent_external_id p on p.external_id = r ->> 'external_id' join account a on a.id = p.account_id
    ));
  end if;
  -- Another plan may change quotas, whose rows `quota_ask` locks in the order of their accounts.
  for entry in
    select r.row_data, r.n from jsonb_array_elements(new_rows) with ordinality r (row_data, n)
      left join parent_external_id p on p.external_id = r.row_data ->> 'external_id'
      order by p.account_id, r.n
  loop
    of_id := (entry.row_data ->> 'id')::uuid;
    has_plan := entry.row_data ->> 'plan' is null or exists (select from plan p where p.name = entry.row_data ->> 'plan');
    select a.* into there from parent_external_id p join account a on a.id = p.account_id
      where p.external_id = entry.row_data ->> 'external_id';
    if found then
      of_id := there.id;
      of_row := import_outcome(there, entry.row_data, max_pairs);
      if of_row = 'updated' and not has_plan then
        of_row := 'no-plan';
      elsif of_row = 'updated' and not is_plan then
        update account a
          set name = entry.row_data ->> 'name', metadata = jsonb_strip_nulls(a.metadata || (entry.row_data -> 'metadata')),
            plan = case when entry.row_data ? 'plan' then entry.row_data ->> 'plan' else a.plan end, updated_at = now()
          where a.id = of_id;
      end if;
    elsif (select count(*) from jsonb_each(entry.row_data -> 'metadata') m where m.value <> 'null') > max_pairs then
      of_row := 'too-many-pairs';
    elsif exists (select from account a where a.id = of_id) then
      of_row := 'id-taken';
    elsif not has_plan then
      of_row := 'no-plan';
    else
      of_row := 'created';
      if not is_plan then
        insert into account (id, name, external_id, status, metadata, sub_accounts, active_sub_accounts, plan)
          values (of_id, entry.row_data ->> 'name', entry.row_data ->> 'external_id', 'active',
            jsonb_strip_nulls(entry.row_data -> 'metadata'), 0, 0, entry.row_data ->> 'plan')
          on conflict (id) do nothing;
        of_row := case when found then 'created' else 'id-taken' end;
      end if;
    end if;
    list[entry.n] := jsonb_build_object('outcome', of_row, 'id', of_id);
    awaited := awaited || array[
      'a:' || of_id, 'x:00000000-0000-0000-0000-000000000000:' || (entry.row_data ->> 'external_id'),
      'p:' || (entry.row_data ->> 'plan')
    ];
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
    perform plan_hold_of(array(select r.parent_id from import_parents(new_rows) r));
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
    elsif parent.sub_accounts + made >= sub_account_limit(parent, max_sub_accounts) then
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

-- accounts/account_limited.sql
create or replace function account_limited(a account, limits jsonb) returns account language plpgsql immutable as $$
begin
  if limits ? 'requests_per_second' then
    a.requests_per_second := nullif(limits ->> 'requests_per_second', 'unlimited')::int;
  end if;
  if limits ? 'burst' then
    a.burst := (limits ->> 'burst')::int;
  end if;
  if limits ? 'requests_per_minute' then
    a.requests_per_minute := nullif(limits ->> 'requests_per_minute', 'unlimited')::int;
  end if;
  if limits ? 'requests_per_day' then
    a.requests_per_day := nullif(limits ->> 'requests_per_day', 'unlimited')::bigint;
  end if;
  if limits ? 'requests_per_month' then
    a.requests_per_month := nullif(limits ->> 'requests_per_month', 'unlimited')::bigint;
  end if;
  if limits ? 'units_per_month' then
    a.units_per_month := nullif(limits ->> 'units_per_month', 'unlimited')::bigint;
  end if;
  a.unlimited := unlimited_after(a.unlimited, limits);
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
    perform from account a where a.id = of_parent and a.parent_id is null and a.deleted_at is null for no key update;
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
      from account s where s.parent_id = of_parent and s.deleted_at is null
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
      account := coalesce(account, (select account_shown(a) from account a where a.id = of_id and a.parent_id is null));
    end if;
    return;
  end if;
  perform change_fence(of_id);
  select * into made from account a where a.id = of_id and a.parent_id is null and a.deleted_at is null for no key update;
  if not found then
    outcome := 'none';
    return;
  end if;
  if made.status <> new_status then
    update account a set status = new_status, updated_at = now() where a.id = of_id returning * into made;
  end if;
  outcome := 'done';
  account := account_shown(made);
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
  if not found or not account_is_there(of_id) then
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
  perform plan_begin_named(array[change ->> 'plan']);
  if unlimited_after('{}', change || coalesce(change -> 'limits', '{}')) <> '{}' then
    perform plan_begin();
  end if;
  if change ?| array['max_api_keys', 'plan'] then
    -- The creation of a sub-account's key reads the maximum without locking this row. So the fence keeps the parent's API
    -- keys from creating keys while this update runs.
    perform change_fence(of_id);
  end if;
  if change ? 'external_id' then
    perform parent_external_id_begin(change ->> 'external_id');
  end if;
  select * into old from account a where a.id = of_id and a.parent_id is null and a.deleted_at is null for no key update;
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
    made.max_sub_accounts := nullif(change ->> 'max_sub_accounts', 'unlimited')::int;
  end if;
  if change ? 'max_api_keys' then
    made.max_api_keys := nullif(change ->> 'max_api_keys', 'unlimited')::int;
  end if;
  made.unlimited := unlimited_after(made.unlimited, change);

  made := account_limited(made, change -> 'limits');
  if made.burst is not null and made.requests_per_second is null then
    outcome := 'burst-alone';
    return;
  end if;
  if change ? 'plan' then
    made.plan := change ->> 'plan';
  end if;
  if change ?| array['plan', 'limits'] and not plan_hold(array[old.plan, made.plan]) then
    outcome := 'no-plan';
    return;
  end if;

  if made is distinct from old then
    update account a
      set name = made.name, external_id = made.external_id, metadata = made.metadata,
        plan = made.plan, unlimited = made.unlimited, max_sub_accounts = made.max_sub_accounts,
        max_api_keys = made.max_api_keys,
        requests_per_second = made.requests_per_second, burst = made.burst, requests_per_minute = made.requests_per_minute,
        requests_per_day = made.requests_per_day, requests_per_month = made.requests_per_month,
        units_per_month = made.units_per_month, updated_at = now()
      where a.id = of_id returning * into made;
  end if;
  outcome := 'done';
  account := account_shown(made);
  seq := change_end(request, null);
  if seq is null and change ?| array['external_id', 'limits', 'plan'] then
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
  if not found or not account_is_there(of_id) then
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
        units_per_month = made.units_per_month, updated_at = now()
      where a.id = of_id returning * into made;
  end if;
  outcome := 'done';
  account := to_jsonb(made);
  seq := change_end(request, null);
  if seq is null and change ?| array['external_id', 'limits'] then
    seq := coherence_position();
  end if;
end $$;

-- accounts/import_outcome.sql
create or replace function import_outcome(there account, new_row jsonb, max_pairs int) returns text language sql stable as $$
  select case
    when (new_row ->> 'id_given')::boolean and there.id <> (new_row ->> 'id')::uuid then 'external-id-taken'
    when there.name = new_row ->> 'name' and m.merged = there.metadata
      and (not new_row ? 'plan' or new_row ->> 'plan' is not distinct from there.plan) then 'unchanged'
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
      and a.deleted_at is null
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
  if not found or not account_is_there(of_account) then
    outcome := 'none';
    return;
  end if;
  perform plan_hold_of(array[of_account]);
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
  perform from account a where a.id = of_parent and a.parent_id is null and a.deleted_at is null for no key update;
  if not found then
    outcome := 'none';
    return;
  end if;
  -- Creating a key takes the same lock on its account, so the count below includes all keys created so far. Rows are
  -- locked in id order, as in `account_import_subs`, so the two functions cannot deadlock.
  perform from account a
    where a.parent_id = of_parent and a.id in (select (k ->> 'owner')::uuid from jsonb_array_elements(new_keys) k)
    order by a.id for no key update;
  perform plan_hold_of(array[of_parent]);

  select jsonb_agg(k.n - 1 order by k.n) into faults
    from jsonb_array_elements(new_keys) with ordinality k (key, n)
    where not exists (
      select from account a
      where a.id = (k.key ->> 'owner')::uuid and (a.id = of_parent or a.parent_id = of_parent)
        and a.deleted_at is null
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
  of_scopes text[];
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
    perform plan_hold_of(array(select r.parent_id from import_owners(new_rows) r));
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
    select k.id, k.account_id, k.scopes into there from api_key k where k.digest = (entry.row_data ->> 'digest')::bytea;
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
    if of_row = 'unchanged' then
      of_scopes := array(select jsonb_array_elements_text(entry.row_data -> 'scopes'));
      if not (there.scopes @> of_scopes and there.scopes <@ of_scopes) then
        list[entry.n] := list[entry.n] || '{"otherScopes": true}';
      end if;
    end if;
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

-- api-keys/api_key_limit.sql
create or replace function api_key_limit(of_account uuid, configured int) returns int language sql stable as $$
  select case when 'max_api_keys' <> all (parent.unlimited) then coalesce(parent.max_api_keys, p.max_api_keys, configured) end
  from account a join account parent on parent.id = coalesce(a.parent_id, a.id) left join plan p on p.name = parent.plan
  where a.id = of_account
$$;

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
  if not found or not account_is_there(of_account) then
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
  if not found or not account_is_there(of_account) then
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
  if not found or not account_is_there(of_account) then
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
  if not found or not account_is_there(of_account) then
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

-- changes/change_begin.sql
create or replace function change_begin(request jsonb, out outcome text, out made jsonb) language plpgsql as $$
#variable_conflict use_column
declare
  claim constant jsonb := request -> 'claim';
  caller constant jsonb := request -> 'caller';
  key_name text;
  session portal_session;
begin
  perform require_read_committed();
  if caller is not null then
    perform pg_advisory_xact_lock_shared(change_fence_key((caller ->> 'account')::uuid));
    -- This query's snapshot is newer than the lock, so it sees any commit that took the key's rights away before the
    -- lock was granted.
    select case
        when k.revoked_at is not null or a.deleted_at is not null then 'key-revoked'
        when k.expires_at <= clock_timestamp() then 'key-expired'
        when a.status <> 'active' then 'account-suspended'
      end, k.name into outcome, key_name
      from api_key k join account a on a.id = k.account_id
      where k.id = (caller ->> 'key')::uuid and k.account_id = (caller ->> 'account')::uuid;
    if not found then
      outcome := 'key-unknown';
    end if;
    if outcome is null and caller ? 'session' then
      -- An end of the session waits for this lock, that is, for this change.
      select * into session from portal_session s
        where s.id = (caller ->> 'session')::uuid and s.account_id = (caller ->> 'account')::uuid and s.redeemed for share;
      if not found or not portal_session_in_force(session) then
        outcome := 'session-ended';
      end if;
    end if;
    if outcome is not null then
      return;
    end if;
  end if;
  if request ? 'owner' and not exists (
    select from account a
    where a.id = (request #>> '{owner,id}')::uuid
      and a.parent_id is not distinct from (request #>> '{owner,parent}')::uuid and account_is_there(a.id)
  ) then
    outcome := 'no-account';
    return;
  end if;
  if caller is not null or request ? 'operator' then
    perform set_config('tenancy_gateway.actor', jsonb_build_object(
      'kind', case when caller is null then 'operator' when session.id is null then 'api_key' else 'portal' end,
      'key_id', caller -> 'key', 'name', coalesce(key_name, request ->> 'operator'),
      'request_id', request -> 'id', 'address', request -> 'address',
      'session_id', session.id, 'user', session.user_label
    )::text, true);
  end if;
  if claim is null then
    return;
  end if;
  select nullif(c.outcome, 'new'), c.made into outcome, made
    from idempotency_claim(
      (claim ->> 'caller')::uuid, decode(claim ->> 'key', 'hex'), decode(claim ->> 'fingerprint', 'hex')
    ) c;
  -- Accounts may have been deleted since. Then the earlier result does not show them any more, even before it is erased.
  if outcome = 'again' then
    if result_is_deleted(made) then
      outcome := 'no-account';
      made := null;
    else
      made := result_erased(made);
    end if;
  end if;
end $$;

-- changes/idempotency_claim.sql
create or replace function idempotency_claim(
  caller uuid, request_key bytea, request_fingerprint bytea, out outcome text, out made jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  kept_for constant interval := '24 hours';
  noted idempotency;
begin
  if not pg_try_advisory_xact_lock(hashtextextended(caller || encode(request_key, 'hex'), 0)) then
    outcome := 'in-flight';
    return;
  end if;
  select * into noted from idempotency i
    where i.caller_key_id = caller and i.key = request_key and i.at > now() - kept_for for update;
  if found then
    if current_setting('synchronous_commit') = 'off' then
      perform set_config('synchronous_commit', 'on', true);
    end if;
    outcome := case when noted.fingerprint in (request_fingerprint, erased_fingerprint()) then 'again' else 'mismatch' end;
    made := case when outcome = 'again' then noted.made end;
    return;
  end if;
  outcome := 'new';
  delete from idempotency i where i.caller_key_id = caller and i.key = request_key;
  delete from idempotency i where i.ctid = any (array(
    select e.ctid from idempotency e
    where e.at < now() - kept_for - interval '1 hour' order by e.at limit 20 for update skip locked
  ));
end $$;

-- changes/limits_begin.sql
create or replace function limits_begin(limits jsonb) returns void language plpgsql as $$
begin
  if exists (select from jsonb_each(limits) l where l.value <> 'null') then
    perform fleet_require(case when limits -> 'units_per_month' <> 'null' then 3 else 2 end);
  end if;
end $$;

-- coherence/fleet_require.sql
create or replace function fleet_require(needed int) returns void language plpgsql as $$
begin
  if needed <= (select f.level from fleet f) then
    return;
  end if;
  perform pg_advisory_xact_lock(7311970453);
  perform fleet_check(needed);
  update fleet f set level = needed where f.level < needed;
end $$;

-- compat-0.1.0/usage_add.sql
create or replace function usage_add(batch text, counts jsonb, replica text, through_ms double precision) returns void
language plpgsql as $$
declare
  is_new boolean := false;
begin
  if counts <> '[]' then
    insert into usage_batch (id) values (batch) on conflict do nothing;
    is_new := found;
  end if;
  if is_new then
    perform usage_count(array_agg(row(a.id, coalesce(a.parent_id, a.id), c.key_id, c.hour, c.hour + interval '1 hour', c.requests, c.reads,
        c.writes, c.client_errors, c.server_errors, c.bytes_in, c.bytes_out, 0, null)::usage_counted), null, 10000)
      from jsonb_to_recordset(counts) c (account_id uuid, key_id uuid, hour timestamptz, requests bigint, reads bigint,
        writes bigint, client_errors bigint, server_errors bigint, bytes_in bigint, bytes_out bigint)
        join account a on a.id = c.account_id;
  end if;
  insert into usage_replica (id, through, at) values (replica, to_timestamp(through_ms / 1000), now())
    on conflict (id) do update set through = greatest(usage_replica.through, excluded.through), at = now();
  delete from usage_batch b where b.at < now() - interval '2 days';
  delete from usage_replica r where r.at < now() - interval '2 days';
end $$;

-- compat-0.2.0/replica_renew.sql
create or replace function replica_renew(
  new_id text, new_nonce text, new_lease_ms int, new_version text, new_host text, is_leaving boolean, clock_ahead_ms bigint
) returns void language sql volatile as $$
  select replica_renew(new_id, new_nonce, new_lease_ms, new_version, new_host, is_leaving, clock_ahead_ms, 2)
$$;

-- compat-0.2.0/usage_add_rows.sql
create or replace function usage_add_rows(
  journal text, from_position bigint, to_position bigint, counts usage_counted[], keys_per_account_hour int,
  through_ms double precision, of_host text
) returns table (rows_in bigint, now_ms double precision) language sql volatile as $$
  select * from usage_add_rows(journal, from_position, to_position, counts, null, keys_per_account_hour, through_ms, of_host)
$$;

-- events/account_changed.sql
create or replace function account_changed() returns trigger language plpgsql as $$
declare
  is_parent constant boolean := new.parent_id is null;
  before constant jsonb := case when is_parent then account_shown(old) else to_jsonb(old) end;
  after constant jsonb := case when is_parent then account_shown(new) else to_jsonb(new) end;
  kind constant text := case when is_parent then 'account' else 'sub_account' end;
  is_deletion constant boolean := old.deleted_at is null and new.deleted_at is not null;
begin
  if (old.sub_accounts, old.active_sub_accounts) is not distinct from (new.sub_accounts, new.active_sub_accounts)
    and current_setting('tenancy_gateway.erasing', true) is distinct from 'on'
  then
    perform event_add(
      coalesce(new.parent_id, new.id),
      array[kind || '.' || case
        when is_deletion then 'deleted'
        when new.status = old.status then 'updated'
        when new.status <> 'active' then new.status
        when new.parent_id is null then 'resumed'
        else 'reactivated'
      end],
      array[case when new.parent_id is not null then new.id end],
      array[case when is_deletion then erased(after) else after end],
      array[case when not is_deletion then event_previous(before, after) end]
    );
  end if;
  perform change_touch(array_remove(array[
    case
      when old.status = 'active' and new.status <> 'active' or is_deletion then '-a:' || old.id
      when (
          old.id, old.parent_id, old.external_id, old.status, old.requests_per_second, old.burst, old.requests_per_minute,
          old.requests_per_day, old.requests_per_month, old.units_per_month, old.plan, old.unlimited, old.deleted_at
        ) is distinct from (
          new.id, new.parent_id, new.external_id, new.status, new.requests_per_second, new.burst, new.requests_per_minute,
          new.requests_per_day, new.requests_per_month, new.units_per_month, new.plan, new.unlimited, new.deleted_at
        )
        then '+a:' || old.id
    end,
    case when old.external_id is distinct from new.external_id then '+' || external_id_log_key(old) end,
    case when old.external_id is distinct from new.external_id then '+' || external_id_log_key(new) end,
    case when (old.active_sub_accounts = 0) is distinct from (new.active_sub_accounts = 0) then '+n:' || old.id end
  ], null));
  if is_parent and old.status = 'active' and new.status <> 'active' then
    delete from portal_session s where s.account_id = new.id;
  end if;
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
    array[case when not is_parent then new.id end], array[case when is_parent then account_shown(new) else to_jsonb(new) end], array[null::jsonb]
  );
  if not is_parent then
    perform account_uncounted(new.parent_id);
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
  if current_setting('tenancy_gateway.erasing', true) = 'on' then
    return null;
  end if;

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

-- events/event_add.sql
create or replace function event_add(of_account uuid, types text[], subs uuid[], objects jsonb[], formers jsonb[])
returns void language plpgsql as $$
declare
  actor constant jsonb := nullif(current_setting('tenancy_gateway.actor', true), '')::jsonb;
  tick constant bigint := event_tick(of_account);
begin
  insert into event (
      id, account_id, sub_account_id, type, created_at, actor_kind, actor_key_id, actor_name, actor_session_id,
      actor_user, request_id, address, object, previous
    )
    select
      (
        lpad(to_hex(tick >> 12), 12, '0') || '7' || lpad(to_hex(tick & 4095), 3, '0') || '8' || lpad(to_hex(e.n), 4, '0')
        || right(gen_random_uuid()::text, 11)
      )::uuid,
      of_account, e.sub, e.type, to_timestamp((tick >> 12) / 1000.0),
      coalesce(actor ->> 'kind', 'system'), (actor ->> 'key_id')::uuid, actor ->> 'name',
      (actor ->> 'session_id')::uuid, actor ->> 'user', actor ->> 'request_id', actor ->> 'address', e.object, e.former
    from unnest(types, subs, objects, formers) with ordinality e (type, sub, object, former, n);
end $$;

-- events/event_append_only.sql
create or replace function event_append_only() returns trigger language plpgsql as $$
begin
  if current_setting(
      case tg_op when 'DELETE' then 'tenancy_gateway.event_retention' when 'UPDATE' then 'tenancy_gateway.event_erasure'
        else 'tenancy_gateway.never' end, true
    ) is distinct from 'on'
  then
    raise integrity_constraint_violation using message = 'events are append-only', constraint = 'event_append_only';
  end if;
  return null;
end $$;

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
    where e.id < event_floor(least(before, clock_timestamp() - make_interval(hours => 24 * days))) order by e.id limit most
  ));
  get diagnostics deleted = row_count;
  perform set_config('tenancy_gateway.event_retention', 'off', true);
  return deleted;
end $$;

-- limits/account_quota_changed.sql
create or replace function account_quota_changed() returns trigger language plpgsql as $$
declare
  account constant text := case when new.parent_id is null then 'parent:' else 'sub_account:' end || new.id;
  begun text[] := '{}';
  resized text[] := '{}';
  quota_name text;
  before bigint;
  after bigint;
begin
  foreach quota_name in array array['day', 'month', 'month:units'] loop
    quota_name := account || ':' || quota_name;
    before := account_quota(old, quota_column(quota_name));
    after := account_quota(new, quota_column(quota_name));
    if before is null and after is not null then
      begun := begun || quota_name;
    elsif before <> after then
      resized := resized || quota_name;
    end if;
  end loop;
  perform quotas_changed(begun, resized);
  if begun <> '{}' then
    perform change_touch(array['+q:' || new.id]);
  end if;
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
  -- A question creates at most one row, and a sweep looks at thousands. So few full buckets are left.
  if random() < 0.005 * jsonb_array_length(questions) then
    perform bucket_sweep();
  end if;
  return to_jsonb(answers);
end $$;

-- limits/bucket_sweep.sql
create or replace function bucket_sweep() returns void language sql set enable_seqscan = off set jit = off as $$
  delete from limit_bucket where ctid = any (array(
    select b.ctid from limit_bucket b
      tablesample system (least(100, 5e7 / greatest(1, pg_relation_size('limit_bucket'))))
      where b.full_at < now() limit 500 for update skip locked
  ))
$$;

-- limits/quota_ask.sql
create or replace function quota_ask(of_replica text, questions jsonb) returns jsonb language plpgsql
set enable_seqscan = off set jit = off as $$
declare
  answers jsonb[] := '{}';
  asked record;
  starts timestamptz;
  ends timestamptz;
  quota limit_quota;
  held limit_hold;
  free bigint;
  granted bigint;
begin
  -- This commit need not survive a database crash, because the next question repeats the totals.
  perform set_config('synchronous_commit', 'off', true);
  -- All calls lock rows in the same order, and so do changes of quotas (`quotas_changed`), so they cannot deadlock.
  for asked in
    select q.*
      from rows from (
        jsonb_to_recordset(questions) as (
          "limit" text, period text, capacity bigint, needed bigint, ahead bigint, series bigint, spent bigint, hand bigint
        )
      ) with ordinality q ("limit", period, capacity, needed, ahead, series, spent, hand, place)
      order by q."limit" collate "C"
  loop
    starts := date_trunc(asked.period, clock_timestamp(), 'UTC');
    -- Added to a timestamptz, a month would be one of the session's time zone.
    ends := (starts at time zone 'UTC' + ('1 ' || asked.period)::interval) at time zone 'UTC';
    quota := quota_of(asked."limit", starts);
    select * into held from limit_hold h
      where h.limit_name = asked."limit" and h.starts_at = starts and h.replica = of_replica;
    -- A replica that asks about a different series, or none, holds no tokens of the current one.
    if asked.series is distinct from quota.series then
      asked.spent := coalesce(held.spent, 0);
      asked.hand := 0;
    end if;
    quota.used := least(
      quota.used + asked.spent + asked.hand - coalesce(held.spent + held.hand, 0), 1000 * 9007199254740991
    );
    if quota.used + asked.needed > asked.capacity then
      quota.used := quota.used - quota_let_go(asked."limit", starts, of_replica);
    end if;
    -- Tokens held by one replica cannot be used by the others. So when few tokens are left, a replica gets only a small
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
        'lengthMs', extract(epoch from ends - starts) * 1000,
        'endsInMs', extract(epoch from ends - clock_timestamp()) * 1000
      )
    );
  end loop;
  -- A question creates at most one row in each table, and a sweep looks at about two thousand. So few ended windows are
  -- left. The sweep comes last, when no more rows are locked, so that it cannot be part of a deadlock.
  if random() < 0.005 * jsonb_array_length(questions) then
    perform quota_sweep();
  end if;
  return to_jsonb(answers);
end $$;

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
        'period', split_part(of_limit, ':', 3), 'unit', split_part(quota_column(of_limit), '_', 1), 'quota', noted.quota, 'used', least(noted.used, noted.quota),
        'starts_at', noted.starts_at
      )],
      array[null::jsonb]
    );
  end if;
end $$;

-- limits/quota_sweep.sql
create or replace function quota_sweep() returns void language sql set enable_seqscan = off set jit = off as $$
  delete from limit_hold where ctid = any (array(
    select h.ctid from limit_hold h
      tablesample system (least(100, 5e7 / greatest(1, pg_relation_size('limit_hold'))))
      where h.starts_at < date_trunc('month', now(), 'UTC') limit 500 for update skip locked
  ));
  delete from limit_quota where ctid = any (array(
    select q.ctid from limit_quota q
      tablesample system (least(100, 5e7 / greatest(1, pg_relation_size('limit_quota'))))
      where q.starts_at < date_trunc('month', now(), 'UTC') limit 500 for update skip locked
  ));
$$;

-- limits/usage_since.sql
create or replace function usage_since(of_limit text, starts timestamptz) returns bigint language plpgsql stable
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  owner constant uuid := split_part(of_limit, ':', 2);
  since constant date := usage_day_of(starts);
  counts_units constant boolean := quota_column(of_limit) like 'units%';
  root uuid;
  subs int;
begin
  select coalesce(a.parent_id, a.id), coalesce(a.sub_accounts, 0) into root, subs from account a where a.id = owner;
  if not found or subs > 5000 then
    return 0;
  end if;
  return (
    select least(coalesce(sum(case when counts_units then u.units else u.requests end), 0), 9007199254740991)
      from (
        select owner as id
        union all
        select a.id from account a where a.parent_id = owner
      ) of_account
      cross join usage_kept k
      cross join lateral (
        select d.requests, d.units from usage_daily d
          where d.root_id = root and d.account_id = of_account.id and d.day >= since
            and d.day < usage_rolled_until(k, root, of_account.id)
        union all
        select h.requests, h.units from usage_hourly h
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
      bytes_out = usage_hourly.bytes_out + excluded.bytes_out,
      units = units_sum(coalesce(usage_hourly.units, 0) + coalesce(excluded.units, 0))
    returning usage_hourly.*
  )
  select array_agg(row(u.*)::usage_hourly) into past from upserted u
    where u.hour < date_trunc('day', clock_timestamp() + interval '10 minutes', 'UTC');
  return past;
end $$;

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
      and (l.requests, l.reads, l.writes, l.client_errors, l.server_errors, l.bytes_in, l.bytes_out, l.units)
        = (0, 0, 0, 0, 0, 0, 0, 0);
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
        sum(h.server_errors), sum(h.bytes_in), sum(h.bytes_out), units_sum(sum(h.units))]::bigint[] as counts
      from usage_hourly h
      where h.root_id = r.id and h.hour = of_hour and (r.id <> b.root or h.account_id > after)
        -- A restored backup may lack accounts that were used after it was made.
        and exists (select from account a where a.id = h.account_id)
      group by 1 order by 1 limit most
    ) h
    order by r.id, h.account_id limit most
  )
  select u.account_id, u.root_id, a.external_id, array(
      select greatest(0, n.count - coalesce(l.late[n.at], 0)) from unnest(u.counts) with ordinality n (count, at) order by n.at
    )
    from used u join account a on a.id = u.account_id cross join lateral (
      select array[sum(l.requests), sum(l.reads), sum(l.writes), sum(l.client_errors), sum(l.server_errors),
        sum(l.bytes_in), sum(l.bytes_out), units_sum(sum(l.units))]::bigint[] as late
      from usage_late l where l.account_id = u.account_id and l.hour = of_hour
    ) l
  union all
  select coalesce((select u.account_id from used u where u.root_id = r.id order by u.account_id desc limit 1), r.id), r.id, null, null from (
    select id, row_number() over (order by id) as number from roots
  ) r
  where r.number > most and (select count(*) from used) < most
$$;

-- usage/usage_note_late.sql
create or replace function usage_note_late(changes usage_hourly[], sign int) returns void language plpgsql as $$
declare
  closed timestamptz;
  kept usage_kept;
begin
  select e.closed_until into closed from usage_export e;
  select k.* into kept from usage_kept k;

  insert into usage_late as l (root_id, account_id, hour, requests, reads, writes, client_errors, server_errors, bytes_in, bytes_out, units)
    select c.root_id, c.account_id, c.hour, sign * sum(c.requests), sign * sum(c.reads), sign * sum(c.writes),
      sign * sum(c.client_errors), sign * sum(c.server_errors), sign * sum(c.bytes_in), sign * sum(c.bytes_out),
      sign * units_sum(sum(c.units))
    from unnest(changes) c where c.hour < closed group by 1, 2, 3 order by 1, 2, 3
  on conflict (account_id, hour, number) do update set
    requests = l.requests + excluded.requests, reads = l.reads + excluded.reads, writes = l.writes + excluded.writes,
    client_errors = l.client_errors + excluded.client_errors, server_errors = l.server_errors + excluded.server_errors,
    bytes_in = l.bytes_in + excluded.bytes_in, bytes_out = l.bytes_out + excluded.bytes_out,
    units = units_sum(l.units + excluded.units);

  insert into usage_daily as d
    select c.root_id, c.account_id, usage_day_of(c.hour), c.key_id, sign * sum(c.requests), sign * sum(c.reads),
      sign * sum(c.writes), sign * sum(c.client_errors), sign * sum(c.server_errors), sign * sum(c.bytes_in),
      sign * sum(c.bytes_out), sign * units_sum(sum(c.units))
    from unnest(changes) c
    where usage_day_of(c.hour) < usage_rolled_until(kept, c.root_id, c.account_id) group by 1, 2, 3, 4 order by 1, 2, 3, 4
  on conflict (root_id, account_id, day, key_id) do update set
    requests = d.requests + excluded.requests, reads = d.reads + excluded.reads, writes = d.writes + excluded.writes,
    client_errors = d.client_errors + excluded.client_errors, server_errors = d.server_errors + excluded.server_errors,
    bytes_in = d.bytes_in + excluded.bytes_in, bytes_out = d.bytes_out + excluded.bytes_out,
    units = units_sum(d.units + excluded.units);
  if sign < 0 then
    delete from usage_daily d
      using (select distinct c.root_id, c.account_id, usage_day_of(c.hour) as day, c.key_id from unnest(changes) c) h
      where (d.root_id, d.account_id, d.day, d.key_id) = (h.root_id, h.account_id, h.day, h.key_id)
        and (d.requests, d.reads, d.writes, d.client_errors, d.server_errors, d.bytes_in, d.bytes_out, d.units)
          = (0, 0, 0, 0, 0, 0, 0, 0);
  end if;
end $$;

-- usage/usage_prune_days.sql
create or replace function usage_prune_days(before timestamptz, months int, most int) returns int language plpgsql
set enable_seqscan = off set jit = off as $$
declare
  -- UTC throughout: subtracted from a timestamptz, months would be those of the session's time zone.
  cutoff constant date := date_trunc('month', least(
    before at time zone 'UTC', clock_timestamp() at time zone 'UTC' - make_interval(months => months),
    (select k.rolled_until::timestamp from usage_kept k)
  ))::date;
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
    date_trunc('day', least(before, clock_timestamp() - make_interval(hours => 24 * days),
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
        sum(h.bytes_in) as bytes_in, sum(h.bytes_out) as bytes_out, units_sum(sum(h.units)) as units
      from usage_hourly h
      where h.root_id = kept.root_id and h.account_id = kept.account_id
        and h.hour >= kept.rolled_until::timestamp at time zone 'UTC'
        and h.hour < kept.rolling_until::timestamp at time zone 'UTC'
      group by 1, 2
    ), written as (
      insert into usage_daily
        select kept.root_id, kept.account_id, d.day, d.key_id, d.requests, d.reads, d.writes, d.client_errors,
          d.server_errors, d.bytes_in, d.bytes_out, d.units from of_day d
      on conflict (root_id, account_id, day, key_id) do update set
        requests = excluded.requests, reads = excluded.reads, writes = excluded.writes,
        client_errors = excluded.client_errors, server_errors = excluded.server_errors,
        bytes_in = excluded.bytes_in, bytes_out = excluded.bytes_out, units = excluded.units
    )
    select rows_read + 5 + coalesce(sum(n), 0) into rows_read from of_day;
  end loop;
  update usage_kept k set root_id = kept.root_id, account_id = kept.account_id;
  return true;
end $$;

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
      sum((n.s).bytes_in), sum((n.s).bytes_out), units_sum(sum((n.s).units))
    from numbered n group by 1, 2, 3, 4
  )
  select array_agg(row(f.*)::usage_hourly order by f.key_id) from final f
$$;
