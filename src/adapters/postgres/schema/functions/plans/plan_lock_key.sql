-- Returns the key of the advisory lock on the plan with this name; see `plan_hold`.
create or replace function plan_lock_key(name text) returns bigint language sql immutable as $$
  select hashtextextended('plan ' || name, 0)
$$;
