-- Returns the number of the lock between an account's changes and the revoke of its keys.
create or replace function change_fence_key(account uuid) returns bigint language sql immutable as $$
  select hashtextextended('change_fence ' || account::text, 0)
$$;
