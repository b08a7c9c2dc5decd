-- compatible with: 6
-- An event says what changed, which key or operator made the change, and which address the request came from. Triggers
-- write events in the same transaction as the change, so no function can leave one out. Changes made by replicas of
-- earlier versions have events, too, but without `request_id` and `address`. A call that writes nothing (a rejection, a
-- replay, a status that was already set) leaves no event.
--
-- Each parent's event ids ascend in commit order, so a reader that continues after the newest id it knows misses
-- nothing. A per-parent advisory lock ensures that (`event_tick`). A change takes this lock after its row locks and
-- holds it from its write to its commit. Every change takes its later locks in the same order (quota rows, log entries,
-- then the position), so no two changes can deadlock.

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
  -- `system` if no request asked for the change, as with hand-written SQL, or if the replica does not say who asked, as
  -- with 0.1.0.
  actor_kind text not null constraint event_actor check (actor_kind in ('api_key', 'operator', 'system')),
  actor_key_id uuid,
  actor_name text,
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

-- Events are never changed, and only `event_prune` deletes them. The trigger guards only against mistakes, because the
-- table's owner can drop it.
create trigger event_append_only before update or delete or truncate on event
  for each statement execute function event_append_only();
