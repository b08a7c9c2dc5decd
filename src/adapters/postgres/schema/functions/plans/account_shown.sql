-- Returns an account as responses and events show it: its row and, in `plan_limits`, its plan.
create or replace function account_shown(of_account account) returns jsonb language sql stable as $$
  select to_jsonb(of_account) || coalesce(
    (select jsonb_build_object('plan_limits', to_jsonb(p)) from plan p where p.name = of_account.plan), '{}'
  )
$$;
