-- Returns an account's maximum number of keys: the one set for its parent account, or its plan's, or else the
-- configured one; null if it has none. A parent's own maximum changes only under `change_fence`, and its plan only
-- while nothing holds it (`plan_hold`). So the maximum stays the same while a change made with one of the parent's keys
-- is running.
create or replace function api_key_limit(of_account uuid, configured int) returns int language sql stable as $$
  select case when 'max_api_keys' <> all (parent.unlimited) then coalesce(parent.max_api_keys, p.max_api_keys, configured) end
  from account a join account parent on parent.id = coalesce(a.parent_id, a.id) left join plan p on p.name = parent.plan
  where a.id = of_account
$$;
