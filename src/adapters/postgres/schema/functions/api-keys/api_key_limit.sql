-- How many keys an account may have: what its parent was given, otherwise what the configuration says. A parent's number is
-- changed under `change_fence`, which no change by one of its keys is beside.
create or replace function api_key_limit(of_account uuid, configured int) returns int language sql stable as $$
  select coalesce(
    (
      select parent.max_api_keys from account a join account parent on parent.id = coalesce(a.parent_id, a.id)
      where a.id = of_account
    ),
    configured
  )
$$;
