-- Returns the key of the advisory lock that `change_fence` takes for an account.
create or replace function change_fence_key(account uuid) returns bigint language sql immutable as $$
  select hashtextextended('change_fence ' || account::text, 0)
$$;
