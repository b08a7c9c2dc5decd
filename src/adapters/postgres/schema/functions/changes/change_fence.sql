-- Waits for the changes that this account's keys have begun, and lets its keys begin no other change until the commit.
-- A change that revokes a key, lets a key expire or suspends an account calls this before it locks any row, because the
-- changes that it waits for may be waiting for that row.
--
-- The lock decides which comes first, a change or a revoke. A change that a key asks for holds the lock shared, from
-- `change_begin` to its commit. A revoke holds the lock exclusively, so later changes wait for the revoke and see it.
-- Advisory locks are granted in the order of requests; with row locks, a stream of changes would let no revoke through.
create or replace function change_fence(account uuid) returns void language sql volatile as $$
  select pg_advisory_xact_lock(change_fence_key(account))
$$;
