-- Waits for changes that this account's keys have started, and keeps the keys from starting any others until the
-- commit. A change that may end a right, such as revoking a key, setting its expiry or suspending an account, calls
-- this before it locks any row, because the changes that it waits for may be waiting for that row.
--
-- The lock decides whether a change or a revocation comes first. A change made with a key holds the lock in shared
-- mode, from `change_begin` to its commit. A revocation holds it in exclusive mode, so later changes wait for the
-- revocation and see it. Advisory locks are granted in the order requested; with row locks, a steady stream of changes
-- could hold off a revocation forever.
create or replace function change_fence(account uuid) returns void language sql volatile as $$
  select pg_advisory_xact_lock(change_fence_key(account))
$$;
