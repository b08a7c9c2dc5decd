-- Creates the plan with this name, or gives it other limits. `wanted` has the columns of the limits; a missing column
-- is null. `outcome` is 'done' or 'burst-alone'; `created` says whether the plan is new. If nothing differs, nothing is
-- written.
--
-- Accounts have only the name of their plan, and replicas hold a plan as a fact of its own, `p:` and its name. So a
-- change of a plan is a single fact in the log, however many accounts have the plan.
create or replace function plan_put(
  request jsonb, of_name text, wanted jsonb, out outcome text, out seq bigint, out created boolean, out plan jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  made plan;
  old plan;
begin
  select b.outcome into outcome from change_begin(request) b;
  if outcome is not null then
    return;
  end if;
  made := jsonb_populate_record(null::plan, wanted);
  made.name := of_name;
  made.created_at := now();
  made.updated_at := now();
  if made.burst is not null and made.requests_per_second is null then
    outcome := 'burst-alone';
    return;
  end if;
  perform pg_advisory_xact_lock(plan_lock_key(of_name));
  select * into old from plan p where p.name = of_name for no key update;
  created := not found;
  if created then
    insert into plan select (made).*;
  else
    made.created_at := old.created_at;
    made.updated_at := old.updated_at;
    if made is distinct from old then
      update plan p
        set max_sub_accounts = made.max_sub_accounts, max_api_keys = made.max_api_keys,
          requests_per_second = made.requests_per_second, burst = made.burst,
          requests_per_minute = made.requests_per_minute, requests_per_day = made.requests_per_day,
          requests_per_month = made.requests_per_month,
          units_per_month = made.units_per_month, updated_at = now()
        where p.name = of_name;
    end if;
  end if;
  outcome := 'done';
  plan := (select to_jsonb(p) from plan p where p.name = of_name);
  seq := greatest(change_end(request, null), coherence_awaited(array['p:' || of_name]));
end $$;
