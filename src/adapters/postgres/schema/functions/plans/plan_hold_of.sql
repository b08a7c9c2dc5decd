-- Locks the plans of these accounts, or of their parents, as `plan_hold` does.
create or replace function plan_hold_of(accounts uuid[]) returns void language sql volatile as $$
  select plan_hold(array(
    select distinct parent.plan from account a join account parent on parent.id = coalesce(a.parent_id, a.id)
    where a.id = any (accounts) and parent.plan is not null
  ))
$$;
