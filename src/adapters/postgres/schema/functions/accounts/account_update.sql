-- Updates a parent, or one of a parent's sub-accounts if `of_parent` is not null. `change` is a PATCH: absent members stay
-- unchanged, and null clears the external_id. Metadata and limits are merged; null removes a pair or a limit. The change
-- of a parent may also have `plan`, `max_sub_accounts` and `max_api_keys`. A parent's limit or maximum that is null is
-- that of the plan, or none, or the configured maximum; "unlimited" lifts it. `outcome` is 'no-plan' if there is no such
-- plan. `outcome` is 'burst-alone' if the account would have a burst but no limit per second.
create or replace function account_update(
  request jsonb, of_parent uuid, of_id uuid, change jsonb, max_pairs int,
  out outcome text, out seq bigint, out holder uuid, out account jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  old account;
  made account;
  -- Columns that no fact shows.
  unlogged constant text[] := array['name', 'metadata', 'updated_at', 'max_sub_accounts', 'max_api_keys'];
begin
  select b.outcome into outcome from change_begin(request) b;
  if outcome is not null then
    return;
  end if;
  if change ?| array['max_api_keys', 'plan'] then
    -- The creation of a sub-account's key reads the maximum without locking this row. So the fence keeps the parent's API
    -- keys from creating keys while this update runs.
    perform change_fence(of_id);
  end if;
  if change ? 'external_id' and of_parent is null then
    perform parent_external_id_lock();
  elsif change ? 'external_id' then
    perform from account a where a.id = of_parent for no key update;
  end if;
  select * into old from account a
    where a.id = of_id and a.parent_id is not distinct from of_parent for no key update;
  if not found or not account_is_there(of_id) then
    outcome := 'none';
    return;
  end if;

  made := jsonb_populate_record(old, change - array['metadata', 'limits', 'max_sub_accounts', 'max_api_keys']);
  if change ? 'external_id' then
    select a.id into holder from account_named(of_parent, made.external_id) a where a.id <> of_id;
    if found then
      outcome := 'taken';
      return;
    end if;
  end if;
  if change ? 'metadata' then
    made.metadata := jsonb_strip_nulls(old.metadata || (change -> 'metadata'));
    if (select count(*) from jsonb_object_keys(made.metadata)) > max_pairs then
      outcome := 'too-many-pairs';
      return;
    end if;
  end if;
  made := account_limited(
    made, (change - array['name', 'external_id', 'metadata', 'plan', 'limits']) || coalesce(change -> 'limits', '{}')
  );
  if made.burst is not null and made.requests_per_second is null then
    outcome := 'burst-alone';
    return;
  end if;
  if change ?| array['plan', 'limits'] and not plan_hold(array[old.plan, made.plan]) then
    outcome := 'no-plan';
    return;
  end if;

  if made is distinct from old then
    update account a
      set name = made.name, external_id = made.external_id, metadata = made.metadata,
        plan = made.plan, unlimited = made.unlimited, max_sub_accounts = made.max_sub_accounts,
        max_api_keys = made.max_api_keys,
        requests_per_second = made.requests_per_second, burst = made.burst, requests_per_minute = made.requests_per_minute,
        requests_per_day = made.requests_per_day, requests_per_month = made.requests_per_month,
        units_per_month = made.units_per_month, updated_at = now()
      where a.id = of_id returning * into made;
  end if;
  outcome := 'done';
  account := account_shown(made);
  seq := change_end(request, null, case when change ?| array['external_id', 'limits', 'plan'] then
    to_jsonb(made) - unlogged is distinct from to_jsonb(old) - unlogged
  end);
end $$;
