-- compatible with: 6
-- An event says what was changed, which key or operator made the change, and from which address the request came.
-- Triggers write events in the transaction of the change, so no function can leave one out. Changes by replicas of
-- earlier versions have events too, without `request_id` and `address`. A call that writes nothing (a refusal, a
-- replay, a status that was set already) leaves no event.
--
-- For each parent, ids ascend in the order of commits, so a reader that continues after the newest id it knows misses
-- nothing. An advisory lock for each parent ensures that (`event_tick`). A change holds this lock from its write to its
-- commit. The change takes the lock after its row locks, and after that only the lock of the position, so no two
-- changes can deadlock.

create table event (
  -- UUIDv7 (RFC 9562): milliseconds, 12 bits of their fraction, the number within its transaction, random bits.
  id uuid primary key,
  -- The parent, even if a sub-account was changed.
  account_id uuid not null,
  sub_account_id uuid,
  type text collate "C" not null constraint event_type check (type ~ '^[a-z_]+\.[a-z]+$'),
  -- The time in the id. If the database's clock was set back, this time stands still until the clock has caught up.
  created_at timestamptz(3) not null,
  -- `system` if no request asked for the change, as with SQL by hand, or if the replica does not say who asked, as
  -- with 0.1.0.
  actor_kind text not null constraint event_actor check (actor_kind in ('api_key', 'operator', 'system')),
  actor_key_id uuid,
  actor_name text,
  request_id text,
  address text,
  -- `object` is the row after the change, without digests; for an event about a quota, it is the use of the quota.
  -- `previous` has the former values of the changed columns. It is null if the row is new.
  object jsonb not null,
  previous jsonb
);
create index event_of_account on event (account_id, id);
create index event_of_sub_account on event (sub_account_id, id) where sub_account_id is not null;

-- Events are never changed, and only `event_prune` deletes them. The trigger guards only against mistakes, since the
-- owner of the table can drop the trigger.
create trigger event_append_only before update or delete or truncate on event
  for each statement execute function event_append_only();
