-- Updates a sub-account. `change` is a PATCH: absent members stay unchanged, and null clears the external_id. Metadata
-- and limits are merged; null removes a pair or a limit. `outcome` is 'burst-alone' if the account would have a burst
-- but no limit per second.
create or replace function account_update_sub(
  request jsonb, of_parent uuid, of_id uuid, change jsonb, max_pairs int,
  out outcome text, out seq bigint, out holder uuid, out account jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  old account;
  made account;
  -- Columns that no fact shows.
  unlogged constant text[] := array['name', 'metadata', 'updated_at'];
begin
  select b.outcome into outcome from change_begin(request) b;
  if outcome is not null then
    return;
  end if;
  if change ? 'external_id' then
    perform from account a where a.id = of_parent for no key update;
  end if;
  select * into old from account a where a.id = of_id and a.parent_id = of_parent for no key update;
  if not found or not account_is_there(of_id) then
    outcome := 'none';
    return;
  end if;

  made := old;
  if change ? 'name' then
    made.name := change ->> 'name';
  end if;
  if change ? 'external_id' then
    made.external_id := change ->> 'external_id';
    select a.id into holder from account a
      where a.parent_id = of_parent and a.external_id = made.external_id and a.id <> of_id;
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

  made := account_limited(made, change -> 'limits');
  if made.burst is not null and made.requests_per_second is null then
    outcome := 'burst-alone';
    return;
  end if;

  if made is distinct from old then
    update account a
      set name = made.name, external_id = made.external_id, metadata = made.metadata,
        requests_per_second = made.requests_per_second, burst = made.burst, requests_per_minute = made.requests_per_minute,
        requests_per_day = made.requests_per_day, requests_per_month = made.requests_per_month,
        units_per_month = made.units_per_month, updated_at = now()
      where a.id = of_id returning * into made;
  end if;
  outcome := 'done';
  account := to_jsonb(made);
  seq := change_end(request, null, case when change ?| array['external_id', 'limits'] then
    to_jsonb(made) - unlogged is distinct from to_jsonb(old) - unlogged
  end);
end $$;
