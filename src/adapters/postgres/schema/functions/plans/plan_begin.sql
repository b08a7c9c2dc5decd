-- Fails if any registered replica does not know plans. A change that needs them calls this right after `change_begin`.
create or replace function plan_begin() returns void language sql volatile as $$
  select fleet_require(3)
$$;
