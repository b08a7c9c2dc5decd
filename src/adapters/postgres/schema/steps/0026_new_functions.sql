-- compatible with: 6
-- Functions that are new. Written by `npm run generate` from schema/functions/.

-- They stand in the order of their names, and call each other.
set local check_function_bodies = off;


-- accounts/account_delete.sql
create or replace function account_delete(
  request jsonb, of_parent uuid, of_id uuid, out outcome text, out seq bigint
) language plpgsql as $$
#variable_conflict use_column
declare
  old account;
begin
  select b.outcome into outcome from change_begin(request) b;
  if outcome is not null then
    return;
  end if;
  perform fleet_check(3);
  if of_parent is null then
    perform change_fence(of_id);
  else
    perform from account a where a.id = of_parent and a.deleted_at is null for no key update;
    if not found then
      outcome := 'none';
      return;
    end if;
  end if;
  select * into old from account a
    where a.id = of_id and a.parent_id is not distinct from of_parent for no key update;
  if not found then
    outcome := 'none';
    return;
  end if;
  if old.deleted_at is not null then
    outcome := 'gone';
    seq := coherence_position();
    return;
  end if;
  if old.status = 'active' then
    outcome := 'active';
    return;
  end if;

  update account a
    set name = erased_name(), external_id = null, metadata = '{}', plan = null, updated_at = now(), deleted_at = now()
    where a.id = of_id;
  update account a set sub_accounts = a.sub_accounts - 1 where a.id = of_parent;
  delete from account_listed l
    where l.owner_id = coalesce(of_parent, '00000000-0000-0000-0000-000000000000')
      and l.created_at = old.created_at and l.id = of_id;
  insert into erasure (account_id, parent_id, deleted_at) values (of_id, of_parent, now());
  outcome := 'done';
  seq := change_end(request, null);
end $$;

-- accounts/account_is_there.sql
create or replace function account_is_there(of_id uuid) returns boolean language plpgsql stable as $$
begin
  return exists (
    select from account a left join account p on p.id = a.parent_id
    where a.id = of_id and a.deleted_at is null and p.deleted_at is null
  );
end $$;

-- accounts/sub_account_limit.sql
create or replace function sub_account_limit(parent account, configured int) returns int language sql stable as $$
  select case when 'max_sub_accounts' <> all (parent.unlimited) then coalesce(
    parent.max_sub_accounts, (select p.max_sub_accounts from plan p where p.name = parent.plan), configured
  ) end
$$;

-- coherence/fleet_check.sql
create or replace function fleet_check(needed int) returns void language plpgsql as $$
declare
  versions text;
begin
  select string_agg(distinct coalesce(r.version, 'before 0.1.0'), ', ') into versions
    from replica r where replica_level(r.nonce) < needed;
  if versions is not null then
    raise exception using errcode = 'TG001', message = 'replicas are registered that cannot enforce this change',
      detail = versions;
  end if;
end $$;

-- coherence/replica_renew.sql
create or replace function replica_renew(
  new_id text, new_nonce text, new_lease_ms int, new_version text, new_host text, is_leaving boolean, clock_ahead_ms bigint,
  level int
) returns void language plpgsql as $$
begin
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  if level < 3 then
    perform fleet_admit(level);
  end if;
  perform coherence_name();
  insert into replica (id, nonce, lease_ms, renewed_at, version, host, leaving)
    values (new_id, level || ':' || new_nonce, new_lease_ms, clock_timestamp(), new_version, new_host, is_leaving)
    on conflict (id) do update set nonce = excluded.nonce, lease_ms = excluded.lease_ms,
      renewed_at = excluded.renewed_at, version = excluded.version, host = excluded.host, leaving = excluded.leaving;
  if clock_ahead_ms is not null then
    insert into replica_clock as c (id, ahead_ms) values (new_id, clock_ahead_ms)
      on conflict (id) do update set ahead_ms = excluded.ahead_ms where abs(c.ahead_ms - excluded.ahead_ms) > 100;
  end if;
end $$;

-- compat-0.2.0/plan_event_object.sql
create or replace function plan_event_object(of_plan plan) returns jsonb language sql immutable as $$
  select to_jsonb(of_plan) || '{"scopes": [], "last_used_at": null, "expires_at": null, "revoked_at": null}'
$$;

-- erasure/erase_accounts.sql
create or replace function erase_accounts(job erasure, most int) returns erasure language plpgsql as $$
declare
  nil constant uuid := '00000000-0000-0000-0000-000000000000';
  left_over int := most;
  keys uuid[];
begin
  while left_over > 0 loop
    if job.at_item is null then
      if job.at_account is null then
        job.at_account := job.account_id;
        delete from portal_session s where s.account_id = job.account_id or s.sub_account_id = job.account_id;
      else
        select a.id into job.at_account from account a
          where a.parent_id >= job.account_id and a.parent_id <= job.account_id
            and (a.parent_id, a.id) > (job.account_id, coalesce(nullif(job.at_account, job.account_id), nil))
          order by a.parent_id, a.id limit 1;
        if not found then
          job.step := 'events';
          return job;
        end if;
        update account a
          set name = erased_name(), external_id = null, metadata = '{}', status = 'deactivated',
            deactivated_at = coalesce(a.deactivated_at, now()), updated_at = now(), deleted_at = job.deleted_at
          where a.id = job.at_account and a.deleted_at is null;
        delete from account_listed l using account a
          where a.id = job.at_account and l.owner_id = job.account_id and l.created_at = a.created_at and l.id = a.id;
      end if;
      job.accounts := job.accounts + 1;
      left_over := left_over - 1;
      job.at_item := nil;
    end if;
    keys := array(
      select k.id from api_key k
      where k.account_id >= job.at_account and (k.account_id, k.id) > (job.at_account, job.at_item)
        and k.account_id <= job.at_account
      order by k.account_id, k.id limit left_over for no key update
    );
    update api_key k set name = erased_name(), revoked_at = coalesce(k.revoked_at, now()) where k.id = any (keys);
    job.api_keys := job.api_keys + cardinality(keys);
    if cardinality(keys) < left_over then
      job.at_item := null;
    elsif cardinality(keys) > 0 then
      job.at_item := keys[cardinality(keys)];
    end if;
    left_over := left_over - cardinality(keys);
  end loop;
  return job;
end $$;

-- erasure/erase_events.sql
create or replace function erase_events(job erasure, most int) returns erasure language plpgsql as $$
declare
  after constant uuid := coalesce(job.at_item, '00000000-0000-0000-0000-000000000000');
  ids uuid[];
begin
  if job.parent_id is null then
    ids := array(
      select e.id from event e where e.account_id >= job.account_id and (e.account_id, e.id) > (job.account_id, after)
        and e.account_id <= job.account_id
      order by e.account_id, e.id limit most
    );
    perform event_erase(ids, 'names');
  else
    ids := array(
      select e.id from event e
      where e.sub_account_id >= job.account_id and (e.sub_account_id, e.id) > (job.account_id, after)
        and e.sub_account_id <= job.account_id
      order by e.sub_account_id, e.id limit most
    );
    perform event_erase(ids, 'texts');
  end if;
  job.events := job.events + cardinality(ids);
  job.at_item := ids[cardinality(ids)];
  if cardinality(ids) < most then
    job.step := 'idempotency';
    job.at_account := null;
    job.at_item := null;
  end if;
  return job;
end $$;

-- erasure/erase_idempotency.sql
create or replace function erase_idempotency(job erasure, settled interval, most int) returns erasure
language plpgsql as $$
declare
  pass erasure_pass;
begin
  select * into pass from erasure_pass for update;
  if job.deleted_at <= pass.served_until then
    job.step := 'log';
    return job;
  end if;
  if pass.at_caller is null then
    pass.serves_until := clock_timestamp() - settled;
    pass.at_caller := '00000000-0000-0000-0000-000000000000';
    pass.at_key := '';
  end if;
  select r.at_caller, r.at_key into pass.at_caller, pass.at_key from erase_results(pass.at_caller, pass.at_key, most) r;
  if pass.at_caller is null then
    pass.served_until := pass.serves_until;
  end if;
  update erasure_pass p
    set served_until = pass.served_until, serves_until = pass.serves_until, at_caller = pass.at_caller,
      at_key = pass.at_key;
  return job;
end $$;

-- erasure/erase_log.sql
create or replace function erase_log(job erasure, most int) returns erasure language plpgsql as $$
declare
  floor_before constant bigint := (select s.floor from coherence_seq s);
  floor_now bigint := floor_before;
begin
  if job.at_position is null then
    perform change_touch(array['+a:' || job.account_id]);
    job.at_position := change_position();
    return job;
  end if;
  if floor_now < job.at_position then
    if exists (select from replica r where r.acked < job.at_position) then
      return null;
    end if;
    perform coherence_prune(coherence_incarnation(), job.at_position, most);
    select s.floor into floor_now from coherence_seq s;
  end if;
  if floor_now >= job.at_position then
    job.erased_at := now();
  elsif floor_now = floor_before then
    return null;
  end if;
  return job;
end $$;

-- erasure/erase_results.sql
create or replace function erase_results(inout at_caller uuid, inout at_key bytea, most int) language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  noted record;
  erased jsonb;
  looked_at int := 0;
begin
  for noted in
    select i.caller_key_id, i.key, i.made from idempotency i
    where (i.caller_key_id, i.key) > (at_caller, at_key) order by i.caller_key_id, i.key limit most
  loop
    looked_at := looked_at + 1;
    at_caller := noted.caller_key_id;
    at_key := noted.key;
    -- Most results are about accounts that are still there. This query finds them faster than `result_erased` would.
    continue when not exists (
      select from result_records(noted.made) r where not account_is_there(record_account(r.record))
    );
    erased := result_erased(noted.made);
    continue when erased is not distinct from noted.made;
    update idempotency i
      set made = erased, fingerprint = case when result_is_deleted(erased) then erased_fingerprint() else i.fingerprint end
      where i.caller_key_id = at_caller and i.key = at_key;
    update erasure j set idempotency_records = j.idempotency_records + 1
      where j.erased_at is null and j.account_id in (
        select unnest(array[a.id, a.parent_id]) from result_records(erased) r
          join account a on a.id = record_account(r.record)
      );
  end loop;
  if looked_at < most then
    at_caller := null;
    at_key := null;
  end if;
end $$;

-- erasure/erased.sql
create or replace function erased(of_record jsonb) returns jsonb language sql immutable as $$
  select of_record || coalesce(
    (
      select jsonb_object_agg(e.key, e.value) from jsonb_each('{"name": null, "external_id": null, "metadata": {}}') e
      where of_record ? e.key
    ),
    '{}'
  )
$$;

-- erasure/erased_fingerprint.sql
create or replace function erased_fingerprint() returns bytea language sql immutable as $$
  select decode(repeat('00', 32), 'hex')
$$;

-- erasure/erased_name.sql
create or replace function erased_name() returns text language sql immutable as $$
  select '(deleted)'
$$;

-- erasure/erasure_next.sql
create or replace function erasure_next(settled interval) returns erasure language sql
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off as $$
  select * from erasure j where j.erased_at is null and j.deleted_at <= clock_timestamp() - settled
    order by j.step = 'log', j.at_position is not null, j.deleted_at limit 1 for update
$$;

-- erasure/erasure_run.sql
create or replace function erasure_run(settled interval, most int) returns erasure language plpgsql as $$
declare
  job erasure;
begin
  if not pg_try_advisory_xact_lock(7311970461) then
    return null;
  end if;
  perform require_read_committed();
  job := erasure_next(settled);
  if job.account_id is null then
    return null;
  end if;
  perform set_config('tenancy_gateway.erasing', 'on', true);
  job := case job.step
    when 'accounts' then erase_accounts(job, most)
    when 'events' then erase_events(job, most)
    when 'idempotency' then erase_idempotency(job, settled, most)
    else erase_log(job, most)
  end;
  if job.account_id is null then
    return null;
  end if;
  update erasure j
    set erased_at = job.erased_at, step = job.step, at_account = job.at_account, at_item = job.at_item,
      at_position = job.at_position, accounts = job.accounts, api_keys = job.api_keys, events = job.events
    where j.account_id = job.account_id returning * into job;
  perform set_config('tenancy_gateway.uncounted', '', true);
  perform change_position();
  perform set_config('tenancy_gateway.erasing', 'off', true);
  return job;
end $$;

-- erasure/event_erase.sql
create or replace function event_erase(of_events uuid[], what text) returns void language plpgsql as $$
begin
  perform set_config('tenancy_gateway.event_erasure', 'on', true);
  update event e
    set address = null,
      actor_name = case when what <> 'names' or e.actor_kind not in ('api_key', 'portal') then e.actor_name end,
      actor_user = case what when 'addresses' then e.actor_user end,
      object = case what when 'addresses' then e.object else erased(e.object) end,
      previous = case what when 'addresses' then e.previous else erased(e.previous) end
    where e.id = any (of_events);
  perform set_config('tenancy_gateway.event_erasure', 'off', true);
end $$;

-- erasure/event_erase_addresses.sql
create or replace function event_erase_addresses(before timestamptz, days int, most int) returns int
language plpgsql as $$
declare
  ids uuid[];
begin
  if not pg_try_advisory_xact_lock(7311970462) then
    return 0;
  end if;
  perform set_config('synchronous_commit', 'off', true);
  ids := array(
    select e.id from event e
    where e.id > (select a.erased_until from event_addresses a)
      and e.id < event_floor(least(before, clock_timestamp() - make_interval(hours => 24 * days)))
    order by e.id limit most
  );
  if cardinality(ids) > 0 then
    perform event_erase(array(select e.id from event e where e.id = any (ids) and e.address is not null), 'addresses');
    update event_addresses set erased_until = ids[cardinality(ids)];
  end if;
  return cardinality(ids);
end $$;

-- erasure/record_account.sql
create or replace function record_account(of_record jsonb) returns uuid language sql immutable as $$
  select coalesce(of_record ->> 'account_id', of_record ->> 'id')::uuid
$$;

-- erasure/result_erased.sql
create or replace function result_erased(made jsonb) returns jsonb language sql stable as $$
  select case when jsonb_typeof(made -> 'keys') = 'array'
    then jsonb_set(made, '{keys}', coalesce(r.records, '[]')) else coalesce(r.records -> 0, made) end
  from (
    select jsonb_agg(
      case when account_is_there(record_account(e.record)) then e.record
        else erased(e.record) || jsonb_build_object('name', erased_name()) end
      order by e.n
    ) as records
    from result_records(made) e
  ) r
$$;

-- erasure/result_is_deleted.sql
create or replace function result_is_deleted(made jsonb) returns boolean language sql stable as $$
  select coalesce(bool_and(not account_is_there(record_account(r.record))), false) from result_records(made) r
$$;

-- erasure/result_records.sql
create or replace function result_records(made jsonb) returns table (n bigint, record jsonb) language sql immutable as $$
  select r.n, r.record
  from jsonb_array_elements(
    case when jsonb_typeof(made -> 'keys') = 'array' then made -> 'keys' else jsonb_build_array(made) end
  ) with ordinality r (record, n)
  where record_account(r.record) is not null
$$;

-- limits/quota_column.sql
create or replace function quota_column(of_limit text) returns text language sql immutable as $$
  select case split_part(of_limit, ':', 4) when '' then 'requests' else 'units' end || '_per_' || split_part(of_limit, ':', 3)
$$;

-- limits/quotas_changed.sql
create or replace function quotas_changed(begun text[], resized text[]) returns void language plpgsql
set enable_seqscan = off set jit = off as $$
begin
  perform from limit_quota q where q.limit_name = any (begun || resized) order by q.limit_name, q.starts_at for update;
  delete from limit_quota q where q.limit_name = any (begun);
  delete from limit_hold h where h.limit_name = any (begun);
  update limit_quota q set noted = 0 where q.noted > 0 and q.limit_name = any (resized);
end $$;

-- plans/account_plan_index.sql
create or replace function account_plan_index() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    delete from plan_account l where l.plan = old.plan and l.created_at = old.created_at and l.account_id = old.id;
  end if;
  if tg_op <> 'DELETE' and new.plan is not null then
    insert into plan_account (plan, created_at, account_id) values (new.plan, new.created_at, new.id);
  end if;
  return null;
end $$;

-- plans/account_quota.sql
create or replace function account_quota(of_account account, quota text) returns bigint language sql stable as $$
  select coalesce(
    case quota
      when 'requests_per_day' then of_account.requests_per_day
      when 'requests_per_month' then of_account.requests_per_month
      when 'units_per_month' then of_account.units_per_month
    end,
    (
      select case quota
        when 'requests_per_day' then p.requests_per_day
        when 'requests_per_month' then p.requests_per_month
        when 'units_per_month' then p.units_per_month
      end
      from plan p where p.name = of_account.plan and quota <> all (of_account.unlimited)
    )
  )
$$;

-- plans/account_shown.sql
create or replace function account_shown(of_account account) returns jsonb language sql stable as $$
  select to_jsonb(of_account) || coalesce(
    (select jsonb_build_object('plan_limits', to_jsonb(p)) from plan p where p.name = of_account.plan), '{}'
  )
$$;

-- plans/plan_begin.sql
create or replace function plan_begin() returns void language sql volatile as $$
  select fleet_require(3)
$$;

-- plans/plan_begin_named.sql
create or replace function plan_begin_named(names text[]) returns void language plpgsql as $$
begin
  if exists (select from plan p where p.name = any (names)) then
    perform plan_begin();
  elsif array_remove(names, null) <> '{}' then
    perform fleet_check(3);
  end if;
end $$;

-- plans/plan_changed.sql
create or replace function plan_changed() returns trigger language plpgsql as $$
begin
  perform event_add(
    '00000000-0000-0000-0000-000000000000',
    array['plan.' || case tg_op when 'INSERT' then 'created' when 'UPDATE' then 'updated' else 'deleted' end],
    array[null::uuid],
    array[case tg_op when 'DELETE' then plan_event_object(old) else plan_event_object(new) end],
    array[case tg_op when 'UPDATE' then event_previous(to_jsonb(old), to_jsonb(new)) end]
  );
  if tg_op = 'DELETE' then
    perform change_touch(array['+p:' || old.name]);
  elsif tg_op = 'UPDATE' then
    if (
        old.requests_per_second, old.burst, old.requests_per_minute, old.requests_per_day, old.requests_per_month,
        old.units_per_month
      ) is distinct from (
        new.requests_per_second, new.burst, new.requests_per_minute, new.requests_per_day, new.requests_per_month,
        new.units_per_month
      )
    then
      perform change_touch(array['+p:' || new.name]);
    end if;
    perform plan_quotas_changed(old, new);
  end if;
  return null;
end $$;

-- plans/plan_delete.sql
create or replace function plan_delete(
  request jsonb, of_name text, out outcome text, out seq bigint, out plan jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  accounts bigint;
begin
  select b.outcome into outcome from change_begin(request) b;
  if outcome is not null then
    return;
  end if;
  -- Nothing is stored, so a delete of a plan that does not exist must not keep replicas of 0.2.0 out.
  perform fleet_check(3);
  -- A change that gives the plan to an account holds this lock, too. So the count below includes all such accounts.
  perform pg_advisory_xact_lock(plan_lock_key(of_name));
  select to_jsonb(p) into plan from plan p where p.name = of_name for update;
  if not found then
    outcome := 'none';
    return;
  end if;
  select count(*) into accounts from plan_account l where l.plan = of_name;
  if accounts > 0 then
    outcome := 'in-use';
    plan := jsonb_build_object('accounts', accounts);
    return;
  end if;
  delete from plan p where p.name = of_name;
  outcome := 'done';
  seq := change_end(request, null);
end $$;

-- plans/plan_hold.sql
create or replace function plan_hold(names text[]) returns boolean language plpgsql as $$
declare
  there constant text[] := array(select p.name from plan p where p.name = any (names) order by p.name);
begin
  perform pg_advisory_xact_lock_shared(plan_lock_key(t.name)) from unnest(there) t (name);
  -- This query's snapshot is newer than the locks, so it does not see a plan that was deleted during the wait.
  return array_remove(names, null) <@ array(select p.name from plan p where p.name = any (there));
end $$;

-- plans/plan_hold_of.sql
create or replace function plan_hold_of(accounts uuid[]) returns void language sql volatile as $$
  select plan_hold(array(
    select distinct parent.plan from account a join account parent on parent.id = coalesce(a.parent_id, a.id)
    where a.id = any (accounts) and parent.plan is not null
  ))
$$;

-- plans/plan_lock_key.sql
create or replace function plan_lock_key(name text) returns bigint language sql immutable as $$
  select hashtextextended('plan ' || name, 0)
$$;

-- plans/plan_put.sql
create or replace function plan_put(
  request jsonb, of_name text, wanted jsonb, out outcome text, out seq bigint, out created boolean, out plan jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  made plan;
  old plan;
begin
  select b.outcome into outcome from change_begin(request) b;
  if outcome is not null then
    return;
  end if;
  made := jsonb_populate_record(null::plan, wanted);
  made.name := of_name;
  made.created_at := now();
  made.updated_at := now();
  if made.burst is not null and made.requests_per_second is null then
    outcome := 'burst-alone';
    return;
  end if;
  perform plan_begin();
  perform pg_advisory_xact_lock(plan_lock_key(of_name));
  select * into old from plan p where p.name = of_name for no key update;
  created := not found;
  if created then
    insert into plan select (made).*;
  else
    made.created_at := old.created_at;
    made.updated_at := old.updated_at;
    if made is distinct from old then
      update plan p
        set max_sub_accounts = made.max_sub_accounts, max_api_keys = made.max_api_keys,
          requests_per_second = made.requests_per_second, burst = made.burst,
          requests_per_minute = made.requests_per_minute, requests_per_day = made.requests_per_day,
          requests_per_month = made.requests_per_month,
          units_per_month = made.units_per_month, updated_at = now()
        where p.name = of_name;
    end if;
  end if;
  outcome := 'done';
  plan := (select to_jsonb(p) from plan p where p.name = of_name);
  seq := greatest(change_end(request, null), coherence_awaited(array['p:' || of_name]));
end $$;

-- plans/plan_quotas_changed.sql
create or replace function plan_quotas_changed(old plan, new plan) returns void language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  changed record;
  begun text[] := '{}';
  resized text[] := '{}';
  limits text[];
begin
  for changed in
    select k.name, quota_column('parent::' || k.name) as quota, k.before is null as begins,
      date_trunc(split_part(k.name, ':', 1), now(), 'UTC') as starts
    from (
      values ('day', old.requests_per_day, new.requests_per_day),
        ('month', old.requests_per_month, new.requests_per_month),
        ('month:units', old.units_per_month, new.units_per_month)
    ) k (name, before, after)
    where k.after is not null and k.before is distinct from k.after
  loop
    limits := array(
      select q.limit_name from limit_quota q join account a on a.id = split_part(q.limit_name, ':', 2)::uuid
      where q.starts_at = changed.starts and q.limit_name like 'parent:%:' || changed.name
        and (changed.begins or q.noted > 0) and a.plan = new.name and changed.quota <> all (a.unlimited)
        and case changed.quota
          when 'requests_per_day' then a.requests_per_day
          when 'requests_per_month' then a.requests_per_month
          else a.units_per_month
        end is null
    );
    if changed.begins then
      begun := begun || limits;
      perform change_touch(array['+q:' || new.name]);
    else
      resized := resized || limits;
    end if;
  end loop;
  perform quotas_changed(begun, resized);
end $$;

-- plans/unlimited_after.sql
create or replace function unlimited_after(unlimited text[], change jsonb) returns text[] language sql immutable as $$
  select array(
    select u from unnest(unlimited) u where not coalesce(change ? u, false)
    union
    select m.key from jsonb_each(change) m
      where m.value = '"unlimited"' and m.key in (
        'max_sub_accounts', 'max_api_keys', 'requests_per_second', 'requests_per_minute', 'requests_per_day',
        'requests_per_month', 'units_per_month'
      )
    order by 1
  )
$$;

-- portal/portal_session_create.sql
create or replace function portal_session_create(
  request jsonb, session jsonb, lifetime_ms int, most int,
  out outcome text, out seq bigint, out expires_at timestamptz
) language plpgsql as $$
#variable_conflict use_column
declare
  made portal_session;
  sub account;
begin
  select b.outcome into outcome from change_begin(request) b;
  if outcome is not null then
    return;
  end if;
  made := jsonb_populate_record(null::portal_session, session);
  delete from portal_session s where s.id = any (array(
    select e.id from portal_session e where e.expires_at <= now() order by e.expires_at limit 100 for update skip locked
  ));
  if made.sub_account_id is not null then
    select * into sub from account a where a.id = made.sub_account_id and a.parent_id = made.account_id;
    if not found or not account_is_there(sub.id) then
      outcome := 'none';
      return;
    end if;
    if sub.status <> 'active' then
      outcome := 'deactivated';
      return;
    end if;
  end if;
  if (select count(*) from portal_session s where s.account_id = made.account_id and s.expires_at > now()) >= most then
    outcome := 'limit';
    return;
  end if;
  insert into portal_session (id, account_id, key_id, sub_account_id, permissions, scopes, user_label, return_url, digest, expires_at)
    values (
      made.id, made.account_id, made.key_id, made.sub_account_id, made.permissions, made.scopes, made.user_label,
      made.return_url, made.digest, clock_timestamp() + lifetime_ms * interval '1 ms'
    ) returning portal_session.expires_at into expires_at;
  outcome := 'done';
  seq := change_end(request, null);
end $$;

-- portal/portal_session_in_force.sql
create or replace function portal_session_in_force(session portal_session) returns boolean language sql stable as $$
  select session.expires_at > clock_timestamp()
    and exists (
      select from api_key k join account a on a.id = k.account_id
      where k.id = session.key_id and k.account_id = session.account_id and k.revoked_at is null
        and (k.expires_at is null or k.expires_at > clock_timestamp()) and a.status = 'active' and a.deleted_at is null
    )
    and (
      session.sub_account_id is null or exists (
        select from account a
        where a.id = session.sub_account_id and a.parent_id = session.account_id and a.status = 'active'
          and a.deleted_at is null
      )
    )
$$;

-- usage/units_sum.sql
create or replace function units_sum(total numeric) returns bigint language sql immutable as $$
  select least(coalesce(total, 0), 9007199254740991)::bigint
$$;

-- usage/usage_add_rows.sql
create or replace function usage_add_rows(
  journal text, from_position bigint, to_position bigint, counts usage_counted[], units bigint[],
  keys_per_account_hour int, through_ms double precision, of_host text
) returns table (rows_in bigint, now_ms double precision) language plpgsql as $$
declare
  known bigint;
begin
  insert into usage_journal (id, through, host) values (journal, coalesce(to_timestamp(through_ms / 1000), now()), of_host)
    on conflict (id) do update set at = now(), forgotten = false
    returning position into known;
  if from_position >= known and to_position > known then
    perform usage_count(counts, units, keys_per_account_hour);
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

-- usage/usage_count.sql
create or replace function usage_count(counts usage_counted[], units bigint[], keys_per_account_hour int) returns void
language plpgsql as $$
declare
  nil constant uuid := '00000000-0000-0000-0000-000000000000';
  added constant usage_hourly[] := array(
    select row(s.*)::usage_hourly from (
      select c.root_id, c.account_id, c.hour, c.key_id, sum(c.requests), sum(c.reads), sum(c.writes),
        sum(c.client_errors), sum(c.server_errors), sum(c.bytes_in), sum(c.bytes_out),
        units_sum(sum(units[c.ordinality]))
      from unnest(counts) with ordinality c
      where (c.requests, c.client_errors, c.server_errors, c.bytes_in, c.bytes_out, coalesce(units[c.ordinality], 0))
        <> (0, 0, 0, 0, 0, 0)
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
        sum(r.client_errors), sum(r.server_errors), sum(r.bytes_in), sum(r.bytes_out), units_sum(sum(r.units))
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
