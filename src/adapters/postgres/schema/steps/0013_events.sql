-- compatible with: 6
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
create trigger event_append_only before update or delete or truncate on event
  for each statement execute function event_append_only();
