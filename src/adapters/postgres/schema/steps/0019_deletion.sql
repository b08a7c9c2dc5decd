-- compatible with: 6
-- locks for a moment: account
-- Lets accounts be deleted, and the personal data of deleted accounts be erased. The new column is empty, so adding it
-- neither rewrites the table nor reads its rows.
--
-- A deleted account keeps its row, so that its id is never given again and its usage still adds up. The row also keeps
-- the status `deactivated` or `suspended`: replicas of earlier versions know only that column, and reject the account's
-- keys by it after a rollback.

alter table account
  add column deleted_at timestamptz(3),
  add constraint account_deleted check (
    deleted_at is null or status <> 'active' and external_id is null and metadata = '{}'
  ) not valid;

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

-- One row: events up to this id have no addresses any more, because they are older than their retention.
create table event_addresses (
  one boolean primary key default true check (one),
  erased_until uuid not null default '00000000-0000-0000-0000-000000000000'
);
insert into event_addresses default values;
