-- Events say what changed, which key or operator made the change, and which address the request came from. Triggers
-- write events in the same transaction as the change, so no function can leave one out. A call that writes nothing (a
-- rejection, a replay, a status that was already set) leaves no event.
--
-- Each parent's event ids ascend in commit order, so a reader that continues after the newest id it knows misses
-- nothing. A per-parent advisory lock ensures that (`event_tick`). A change takes this lock after its row locks and
-- holds it from its write to its commit. Every change takes its later locks in the same order (quota rows, log entries,
-- then the position), so no two changes can deadlock.

-- Events are never changed, except to erase personal data, and only `event_prune` deletes them.
create table event (
  -- UUIDv7 (RFC 9562). It contains the time in milliseconds, 12 bits for the fraction of the millisecond, the number of
  -- the event within its `event_add` call, and random bits.
  id uuid primary key,
  -- Id of the parent, even if a sub-account changed.
  account_id uuid not null,
  sub_account_id uuid,
  type text collate "C" not null constraint event_type check (type ~ '^[a-z_]+\.[a-z]+$'),
  -- The time in the id. If the database's clock is set back, each new event is 1/4096 ms later than its parent's newest
  -- one, until the clock has caught up.
  created_at timestamptz(3) not null,
  -- `system` if no request asked for the change, as with hand-written SQL.
  actor_kind text not null constraint event_actor check (actor_kind in ('api_key', 'operator', 'portal', 'system')),
  actor_key_id uuid,
  actor_name text,
  -- The portal session that made a change, and its user as the parent calls them. The actor of such an event is also the
  -- key that made the session.
  actor_session_id uuid,
  actor_user text,
  request_id text,
  address text,
  -- `object` is the row after the change, without digests, or the use of the quota if the event is about a quota.
  -- `previous` has the old values of the changed columns, or the id of the old key after a rotation. `previous` is null
  -- if the row is new or the event is about a quota.
  object jsonb not null,
  previous jsonb
);
create index event_of_account on event (account_id, id);
create index event_of_sub_account on event (sub_account_id, id) where sub_account_id is not null;
-- A list of one type may have to look for rare events among millions of others.
create index event_of_type on event (type, id);
create index event_of_account_type on event (account_id, type, id);
create index event_of_sub_account_type on event (sub_account_id, type, id) where sub_account_id is not null;

-- How many bytes of events the changes of a parent's keys left on the day (UTC) of the last one; `session_id` is the nil
-- UUID, or the portal session that made them.
create table event_spent (
  account_id uuid not null,
  session_id uuid not null,
  day timestamptz(0) not null,
  bytes bigint not null,
  primary key (account_id, session_id)
) with (fillfactor = 50);

-- One row: events up to this id have no addresses any more, because they are older than their retention.
create table event_addresses (
  one boolean primary key default true check (one),
  erased_until uuid not null default '00000000-0000-0000-0000-000000000000'
);
insert into event_addresses default values;

-- The erasure of each deleted account: what is left to do, and what has been done. Holds ids and counts only.
--
-- `step` is the part of the work that is under way: 'accounts' (the account, its sub-accounts and all their keys),
-- 'events', 'idempotency' or 'log'. `at_account`, `at_item` and `at_position` say how far it has come: all rows up to
-- there are done. Each batch saves them in its own transaction, so an interrupted erasure continues where it stopped.
create table erasure (
  -- Id of the deleted account.
  account_id uuid primary key,
  -- Parent of a deleted sub-account; null if the deleted account is a parent.
  parent_id uuid,
  deleted_at timestamptz(3) not null,
  -- When everything had been erased; null until then.
  erased_at timestamptz(3),
  step text not null default 'accounts' constraint erasure_step
    check (step in ('accounts', 'events', 'idempotency', 'log')),
  at_account uuid,
  at_item uuid,
  at_position bigint,
  accounts int not null default 0,
  api_keys int not null default 0,
  events int not null default 0,
  idempotency_records int not null default 0
);
create index erasure_of_parent on erasure (parent_id) where parent_id is not null;
-- The order of `erasure_next`.
create index erasure_pending on erasure ((step = 'log'), (at_position is not null), deleted_at) where erased_at is null;

-- One row: how far the results of requests with an Idempotency-Key have been read for all erasures together
-- (`erase_idempotency`). A pass is under way if `at_caller` is not null.
create table erasure_pass (
  one boolean primary key default true check (one),
  -- Results about accounts that were deleted until then have been erased.
  served_until timestamptz(3) not null default '-infinity',
  -- The same once the pass under way has ended.
  serves_until timestamptz(3),
  -- The pass has erased the results up to this one, in primary key order.
  at_caller uuid,
  at_key bytea
);
insert into erasure_pass default values;
