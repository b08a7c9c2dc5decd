-- Returns the maximum number of keys of an account: its parent's own maximum if there is one, otherwise the configured
-- one. A parent's maximum changes under `change_fence`, so no change by one of its keys runs at the same time.
create or replace function api_key_limit(of_account uuid, configured int) returns int language sql stable as $$
  select coalesce(
    (
      select parent.max_api_keys from account a join account parent on parent.id = coalesce(a.parent_id, a.id)
      where a.id = of_account
    ),
    configured
  )
$$;
