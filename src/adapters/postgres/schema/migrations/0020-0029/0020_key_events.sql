-- compatible with: 4
-- locks for a moment: api_key
-- Events of API keys. A step of its own, since one step locks one table; what is changed between the two has no event.

-- Many at a time: an import is one statement, and its events have one time. A key that was made in the place of another one has
-- one event for both: what becomes of the other one in the same transaction has none.
create function api_key_created_event() returns trigger language plpgsql as $$
declare
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
        select m.id, m.account_id, to_jsonb(m) - array['digest', 'client_secret_digest'], to_jsonb(m) ->> 'rotated_from' from made m
      ) k (id, account_id, object, rotated_from) join account a on a.id = k.account_id
      group by 1 order by 1
  loop
    perform set_config('tenancy_gateway.rotated', formers[1] ->> 'id', true);
    perform event_add(of_account, types, subs, objects, formers);
  end loop;
  return null;
end $$;

create function api_key_changed_event() returns trigger language plpgsql as $$
declare
  owner account;
begin
  if new.id::text = current_setting('tenancy_gateway.rotated', true) then
    return null;
  end if;
  select * into owner from account a where a.id = new.account_id;
  perform event_add(
    coalesce(owner.parent_id, owner.id),
    array[case when old.revoked_at is null and new.revoked_at is not null then 'api_key.revoked' else 'api_key.updated' end],
    array[case when owner.parent_id is not null then owner.id end],
    array[api_key_json(new)],
    array[event_previous(api_key_json(old), api_key_json(new))]
  );
  return null;
end $$;

create trigger api_key_event_on_insert after insert on api_key referencing new table as made
  for each statement execute function api_key_created_event();
-- When a key was last used is no change that a request asked for.
create trigger api_key_event_on_update after update on api_key for each row
  when (old.last_used_at is not distinct from new.last_used_at and old.* is distinct from new.*)
  execute function api_key_changed_event();
