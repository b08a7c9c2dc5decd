-- This trigger writes the events for new keys, for all rows of a statement at once. It touches the facts of imported
-- keys only: clients may have used such a key already, so replicas may have cached it as unknown. No client knows a key
-- that this transaction has just minted. `api_key_import` is a single insert, so all its events have the same time. A
-- rotation gets one event for both keys.
create or replace function api_key_created() returns trigger language plpgsql as $$
declare
  minted constant text := current_setting('tenancy_gateway.minted', true);
  of_account uuid;
  types text[];
  subs uuid[];
  objects jsonb[];
  formers jsonb[];
begin
  for of_account, types, subs, objects, formers in
    select
        coalesce(a.parent_id, a.id),
        array_agg(case when k.rotated_from is null then 'api_key.created' else 'api_key.rotated' end order by k.id),
        array_agg(case when a.parent_id is not null then a.id end order by k.id),
        array_agg(k.object order by k.id),
        array_agg(case when k.rotated_from is not null then jsonb_build_object('id', k.rotated_from) end order by k.id)
      from (
        select m.id, m.account_id, api_key_shown(to_jsonb(m)), to_jsonb(m) ->> 'rotated_from' from made m
      ) k (id, account_id, object, rotated_from) join account a on a.id = k.account_id
      group by 1 order by 1
  loop
    perform set_config('tenancy_gateway.rotated', formers[1] ->> 'id', true);
    perform event_add(of_account, types, subs, objects, formers);
  end loop;
  perform change_touch(array(
    select '+' || api_key_log_key(m.digest) from made m where minted is distinct from m.id::text
  ));
  return null;
end $$;
