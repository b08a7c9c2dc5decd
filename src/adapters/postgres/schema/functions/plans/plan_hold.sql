-- Keeps plans as they are until the commit, and returns whether all of them exist; null elements are ignored. A change
-- calls this before it reads a plan's limits.
--
-- A holder has the advisory lock of the plan in shared mode. `plan_put` and `plan_delete` take it in exclusive mode.
-- Advisory locks are granted in the order requested; with row locks, a steady stream of new accounts with a plan could
-- hold off a change of the plan forever.
--
-- A change calls this once, after it has locked its accounts and before its first write. A change of a plan waits for
-- this lock before it locks anything else. So whoever holds the lock waits for no transaction that is still waiting for
-- it, and nobody deadlocks. Several plans are locked in the order of their names.
create or replace function plan_hold(names text[]) returns boolean language plpgsql as $$
declare
  there constant text[] := array(select p.name from plan p where p.name = any (names) order by p.name);
begin
  perform pg_advisory_xact_lock_shared(plan_lock_key(t.name)) from unnest(there) t (name);
  -- This query's snapshot is newer than the locks, so it does not see a plan that was deleted during the wait.
  return array_remove(names, null) <@ array(select p.name from plan p where p.name = any (there));
end $$;
