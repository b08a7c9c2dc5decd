-- Updates a key. `change` contains the new values of columns; its member `limits` contains the limits to change.
-- `outcome` is 'inactive' if `change` sets a new expiry on a key that has been revoked or has expired. Such a key never
-- becomes active again. `outcome` is 'burst-alone' if the key would have a burst but no limit per second.
create or replace function api_key_update(
  request jsonb, of_account uuid, of_id uuid, change jsonb, out outcome text, out seq bigint, out key jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  old api_key;
  made api_key;
begin
  select b.outcome into outcome from change_begin(request) b;
  if outcome is not null then
    return;
  end if;
  if change ? 'expires_at' then
    perform change_fence(of_account);
  end if;
  select * into old from api_key k where k.id = of_id and k.account_id = of_account for no key update;
  if not found or not account_is_there(of_account) then
    outcome := 'none';
    return;
  end if;

  made := jsonb_populate_record(old, change || coalesce(change -> 'limits', '{}'));
  if made.expires_at is distinct from old.expires_at and not api_key_is_active(old) then
    outcome := 'inactive';
    return;
  end if;
  if made.burst is not null and made.requests_per_second is null then
    outcome := 'burst-alone';
    return;
  end if;
  if made is distinct from old then
    update api_key k
      set name = made.name, expires_at = made.expires_at, requests_per_second = made.requests_per_second,
        burst = made.burst, requests_per_minute = made.requests_per_minute
      where k.id = of_id returning * into made;
  end if;
  outcome := 'done';
  key := api_key_shown(to_jsonb(made));
  old.name := made.name;
  seq := change_end(request, null, case when change ?| array['expires_at', 'limits'] then made is distinct from old end);
end $$;
