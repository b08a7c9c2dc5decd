-- Waits for the running changes that were requested with this account's keys, and keeps the keys from starting other
-- changes until the commit. A change that may end a right calls this, for example if it revokes a key, sets a key's
-- expiry or suspends an account. The call comes before the change's first row lock, because the running changes may
-- need the same rows.
--
-- The lock decides whether a change or a revocation comes first. A change made with a key holds the lock in shared
-- mode, from `change_begin` to its commit. A revocation holds it in exclusive mode, so later changes wait for the
-- revocation and see it. Advisory locks are granted in the order requested; with row locks, a steady stream of changes
-- could hold off a revocation forever.
create or replace function change_fence(account uuid) returns void language sql volatile as $$
  select pg_advisory_xact_lock(change_fence_key(account))
$$;
