-- Returns an account's maximum number of keys: the one set for its parent account, or else the configured one. A
-- parent's maximum changes only under `change_fence`. So the maximum stays the same while a change made with one of the
-- parent's keys is running.
create or replace function api_key_limit(of_account uuid, configured int) returns int language sql stable as $$
  select coalesce(
    (
      select parent.max_api_keys from account a join account parent on parent.id = coalesce(a.parent_id, a.id)
      where a.id = of_account
    ),
    configured
  )
$$;
