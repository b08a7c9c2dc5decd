-- Creates a sub-account with the limits in `request`. `outcome` is 'limit' if the parent already has its maximum number
-- of sub-accounts; `account` then contains that maximum. `outcome` is 'id-taken' if another account has the id.
-- `outcome` is 'burst-alone' if the account would have a burst
-- but no limit per second.
--
-- The new account's fact is not logged, because no replica can have cached an account before it exists. If the new
-- account is the parent's first active sub-account, the parent's fact `n:` is logged: from then on, the parent must
-- send the acting header with its writes.
create or replace function account_create_sub(
  request jsonb,
  new_parent uuid, new_id uuid, new_name text, new_external_id text, new_metadata jsonb, max_sub_accounts int,
  out outcome text, out seq bigint, out holder uuid, out account jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  parent account;
  made account;
  limited account;
begin
  select b.outcome, b.made, b.seq into outcome, account, seq from change_begin(request) b;
  if outcome is not null then
    return;
  end if;
  limited := account_limited(limited, request -> 'limits');
  if limited.burst is not null and limited.requests_per_second is null then
    outcome := 'burst-alone';
    return;
  end if;
  -- The lock lets only one sub-account of a parent be created at a time. So each creation sees the count and the
  -- external_ids of the sub-accounts created before.
  select * into parent from account a where a.id = new_parent and a.parent_id is null and a.deleted_at is null for no key update;
  if not found then
    outcome := 'no-parent';
    return;
  end if;
  if new_external_id is not null then
    select a.id into holder from account_named(new_parent, new_external_id) a;
    if found then
      outcome := 'taken';
      return;
    end if;
  end if;
  perform plan_hold(array[parent.plan]);
  if parent.sub_accounts >= sub_account_limit(parent, max_sub_accounts) then
    outcome := 'limit';
    account := jsonb_build_object('limit', sub_account_limit(parent, max_sub_accounts));
    return;
  end if;

  insert into account
      (id, parent_id, name, external_id, status, metadata,
        requests_per_second, burst, requests_per_minute, requests_per_day, requests_per_month, units_per_month)
    values (new_id, new_parent, new_name, new_external_id, 'active', new_metadata,
      limited.requests_per_second, limited.burst, limited.requests_per_minute, limited.requests_per_day,
      limited.requests_per_month, limited.units_per_month)
    on conflict (id) do nothing returning * into made;
  if not found then
    outcome := 'id-taken';
    return;
  end if;
  update account a set sub_accounts = a.sub_accounts + 1, active_sub_accounts = a.active_sub_accounts + 1
    where a.id = new_parent;
  outcome := 'done';
  account := account_shown(made);
  -- The 2xx waits until every replica has confirmed `seq`. If this change logs nothing, the 2xx waits for earlier
  -- changes instead: one that gave the parent an active sub-account, or one by which another account gave up the
  -- external_id. Some replicas may not have confirmed these changes yet.
  seq := coalesce(
    change_end(request, account, nullif(parent.active_sub_accounts = 0, false)),
    coherence_awaited(array['n:' || new_parent, external_id_log_key(made)])
  );
end $$;
