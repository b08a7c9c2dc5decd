-- Deletes a plan. `outcome` is 'none' if there is no such plan, or 'in-use' if accounts have it; `plan` then has their
-- number.
create or replace function plan_delete(
  request jsonb, of_name text, out outcome text, out seq bigint, out plan jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  accounts bigint;
begin
  select b.outcome into outcome from change_begin(request) b;
  if outcome is not null then
    return;
  end if;
  -- A change that gives the plan to an account holds this lock, too. So the count below includes all such accounts.
  perform pg_advisory_xact_lock(plan_lock_key(of_name));
  select to_jsonb(p) into plan from plan p where p.name = of_name for update;
  if not found then
    outcome := 'none';
    return;
  end if;
  select count(*) into accounts from account a where a.plan = of_name;
  if accounts > 0 then
    outcome := 'in-use';
    plan := jsonb_build_object('accounts', accounts);
    return;
  end if;
  delete from plan p where p.name = of_name;
  outcome := 'done';
  seq := change_end(request, null, true);
end $$;
