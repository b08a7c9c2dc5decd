-- Creates a key from `new_key`, an object with the columns of a newly minted key, and the limits in `request`.
-- `outcome` is 'limit' if the account already has its maximum number of keys; `key` then contains that maximum.
-- `outcome` is 'burst-alone' if the key would have a burst but no limit per second. Nothing is logged, because no
-- replica caches a key before a request has used it.
create or replace function api_key_create(
  request jsonb, of_account uuid, new_key jsonb, max_keys int,
  out outcome text, out seq bigint, out key jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  draft api_key;
  made api_key;
  most int;
begin
  select b.outcome, b.made into outcome, key from change_begin(request) b;
  if outcome is not null then
    return;
  end if;
  draft := jsonb_populate_record(null::api_key, new_key || coalesce(request -> 'limits', '{}'));
  if draft.burst is not null and draft.requests_per_second is null then
    outcome := 'burst-alone';
    return;
  end if;
  perform from account a where a.id = of_account for no key update;
  if not found or not account_is_there(of_account) then
    outcome := 'none';
    return;
  end if;
  perform plan_hold_of(array[of_account]);
  most := api_key_limit(of_account, max_keys);
  if api_key_count(of_account) >= most then
    outcome := 'limit';
    key := jsonb_build_object('limit', most);
    return;
  end if;
  perform require_budget(request, of_account);
  draft.account_id := of_account;
  draft.created_at := now();
  perform set_config('tenancy_gateway.minted', draft.id::text, true);
  insert into api_key select (draft).* returning * into made;
  outcome := 'done';
  key := api_key_shown(to_jsonb(made));
  seq := change_end(request, key);
end $$;
