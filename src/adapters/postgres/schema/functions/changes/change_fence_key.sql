-- Returns the key of the advisory lock between the changes that an account's keys ask for and the revoke of its keys.
create or replace function change_fence_key(account uuid) returns bigint language sql immutable as $$
  select hashtextextended('change_fence ' || account::text, 0)
$$;
