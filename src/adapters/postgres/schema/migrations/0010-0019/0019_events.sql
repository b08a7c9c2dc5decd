-- compatible with: 4
-- locks for a moment: account
-- Events: what was changed, by which key or operator, from where. Triggers write them, in the transaction of the change, so that
-- no function can leave one out: the changes of replicas of earlier versions have events too, without `request_id` and
-- `address`. What writes nothing (a refusal, a replay, a status that was set already) leaves none.
--
-- Ids ascend in the order of commits for each parent, so that a reader who goes on from the newest id it knows misses nothing.
-- An advisory lock for each parent sees to that (`event_tick`): from the write of a change to its commit. A change has locked
-- its rows by then and only the position is locked after it, so no two can wait for each other.

create table event (
  -- UUIDv7 (RFC 9562): milliseconds, 12 bits of their fraction, the number within its transaction, random bits.
  id uuid primary key,
  -- The parent, also where a sub-account was changed.
  account_id uuid not null,
  sub_account_id uuid,
  type text collate "C" not null constraint event_type check (type ~ '^[a-z_]+\.[a-z]+$'),
  -- The time in the id. Where the database's clock was set back, it stands still until that has caught up.
  created_at timestamptz(3) not null,
  -- `system` where no request asked: SQL by hand. So are changes of replicas that do not say who asked, 0.1.0 among them.
  actor_kind text not null constraint event_actor check (actor_kind in ('api_key', 'operator', 'system')),
  actor_key_id uuid,
  actor_name text,
  request_id text,
  address text,
  -- The row after the change, without digests, and the former values of its columns that changed; null where it is new.
  object jsonb not null,
  previous jsonb
);
create index event_of_account on event (account_id, id);
create index event_of_sub_account on event (sub_account_id, id) where sub_account_id is not null;

-- Events are never changed, and deleted by `event_prune` alone. Guards against mistakes: the owner of a table can drop it.
create function event_append_only() returns trigger language plpgsql as $$
begin
  if tg_op <> 'DELETE' or current_setting('tenancy_gateway.event_retention', true) is distinct from 'on' then
    raise integrity_constraint_violation using message = 'events are append-only', constraint = 'event_append_only';
  end if;
  return null;
end $$;
create trigger event_append_only before update or delete or truncate on event
  for each statement execute function event_append_only();

-- The time in an id, in 1/4096 ms since 1970.
create function event_tick_of(id uuid) returns bigint language sql immutable as $$
  select ('x0' || translate(left(id::text, 13), '-', '') || substr(id::text, 16, 3))::bit(64)::bigint
$$;

-- The least id of a millisecond.
create function event_floor(at timestamptz) returns uuid language sql immutable as $$
  select rpad(lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0'), 32, '0')::uuid
$$;

-- Keeps other changes of this parent from getting an id until the commit, and returns a time after the newest event.
create function event_tick(of_account uuid) returns bigint language plpgsql volatile as $$
declare
  newest uuid;
begin
  perform pg_advisory_xact_lock(hashtextextended('event ' || of_account::text, 0));
  -- In a later snapshot than the lock. A range of the index, since PostgreSQL may read along the primary key otherwise.
  select e.id into newest from event e
    where e.account_id >= of_account and (e.account_id, e.id) <= (of_account, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
    order by e.account_id desc, e.id desc limit 1;
  return greatest(floor(extract(epoch from clock_timestamp()) * 4096000)::bigint, event_tick_of(newest) + 1);
end $$;

-- Writes events of one parent; the arrays hold an element for each. Who asks, and from where, `change_begin` has left in a
-- setting of this transaction.
create function event_add(of_account uuid, types text[], subs uuid[], objects jsonb[], formers jsonb[])
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

-- The former values of the columns that changed. `updated_at` is when that was, and the event before it says that.
create function event_previous(before jsonb, after jsonb) returns jsonb language sql immutable as $$
  select coalesce(jsonb_object_agg(b.key, b.value), '{}') from jsonb_each(before) b
  where b.key <> 'updated_at' and after -> b.key is distinct from b.value
$$;

create function account_event() returns trigger language plpgsql as $$
declare
  is_parent constant boolean := new.parent_id is null;
  happened text := 'created';
  previous jsonb;
begin
  if tg_op = 'UPDATE' then
    previous := event_previous(to_jsonb(old), to_jsonb(new));
    happened := case
      when new.status = old.status then 'updated'
      when new.status = 'active' then case when is_parent then 'resumed' else 'reactivated' end
      else new.status
    end;
  end if;
  perform event_add(
    coalesce(new.parent_id, new.id),
    array[case when is_parent then 'account.' else 'sub_account.' end || happened],
    array[case when not is_parent then new.id end],
    array[to_jsonb(new)],
    array[previous]
  );
  return null;
end $$;

create trigger account_event_on_insert after insert on account for each row execute function account_event();
-- A parent's counts follow from changes of its sub-accounts, which have events of their own.
create trigger account_event_on_update after update on account for each row
  when (
    old.* is distinct from new.*
    and (old.sub_accounts, old.active_sub_accounts) is not distinct from (new.sub_accounts, new.active_sub_accounts)
  )
  execute function account_event();

-- Deletes about `most` of the events from before `before`, the oldest first, and returns how many. Nothing that is younger
-- than `days` by the clock of the database: one of two clocks that jumps deletes nothing. One caller at a time works.
create function event_prune(before timestamptz, days int, most int) returns int language plpgsql as $$
declare
  deleted int;
begin
  if not pg_try_advisory_xact_lock(7311970456) then
    return 0;
  end if;
  -- What a crash brings back is deleted again.
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

-- As in 0011, but that it notes who asks. `request` has these members more: `operator`, the name of the token that an operator called
-- with, and `id` and `address` of the request.
create or replace function change_begin(request jsonb, out outcome text, out made jsonb) language plpgsql as $$
#variable_conflict use_column
declare
  claim constant jsonb := request -> 'claim';
  caller constant jsonb := request -> 'caller';
  key_name text;
begin
  if caller is not null then
    perform pg_advisory_xact_lock_shared(change_fence_key((caller ->> 'account')::uuid));
    -- In a later snapshot than the lock: what ended this key's right and was committed before is seen.
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
