-- Creates a parent. `outcome` is 'id-taken' if another account has the id. `outcome` is 'taken' if another parent has
-- the external_id; `holder` is then the id of that parent.
-- The parent has the plan in `request`, or none; `outcome` is 'no-plan' if there is no such plan.
create or replace function account_create_parent(
  request jsonb, new_id uuid, new_name text, new_external_id text, new_metadata jsonb,
  out outcome text, out seq bigint, out holder uuid, out account jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  parent account;
begin
  select b.outcome, b.made into outcome, account from change_begin(request) b;
  if outcome is not null then
    if outcome = 'again' and (account ->> 'external_id' is not null or account ->> 'plan' is not null) then
      seq := coherence_position();
    end if;
    return;
  end if;
  if new_external_id is not null then
    perform parent_external_id_lock();
    select a.id into holder from account_named(null, new_external_id) a;
    if found then
      outcome := 'taken';
      return;
    end if;
  end if;
  if not plan_hold(array[request ->> 'plan']) then
    outcome := 'no-plan';
    return;
  end if;
  insert into account (id, name, external_id, status, metadata, sub_accounts, active_sub_accounts, plan)
    values (new_id, new_name, new_external_id, 'active', new_metadata, 0, 0, request ->> 'plan')
    on conflict (id) do nothing returning * into parent;
  if not found then
    outcome := 'id-taken';
    return;
  end if;
  outcome := 'done';
  account := account_shown(parent);
  seq := change_end(request, account);
  -- The 2xx waits for earlier changes that some replicas may not have confirmed yet: one by which another parent gave up
  -- the external_id, and one of the plan.
  if new_external_id is not null or parent.plan is not null then
    seq := coherence_awaited(array_remove(array[external_id_log_key(parent), 'p:' || parent.plan], null));
  end if;
end $$;
