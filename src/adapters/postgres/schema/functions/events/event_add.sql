-- Writes one parent's events; each array has one element per event. `change_begin` has stored who is making the change,
-- and from which address, in a setting of this transaction.
create or replace function event_add(of_account uuid, types text[], subs uuid[], objects jsonb[], formers jsonb[])
returns void language plpgsql as $$
declare
  actor constant jsonb := nullif(current_setting('tenancy_gateway.actor', true), '')::jsonb;
  tick constant bigint := event_tick(of_account);
begin
  insert into event (
      id, account_id, sub_account_id, type, created_at, actor_kind, actor_key_id, actor_name, actor_session_id,
      actor_user, request_id, address, object, previous
    )
    select
      (
        lpad(to_hex(tick >> 12), 12, '0') || '7' || lpad(to_hex(tick & 4095), 3, '0') || '8' || lpad(to_hex(e.n), 4, '0')
        || right(gen_random_uuid()::text, 11)
      )::uuid,
      of_account, e.sub, e.type, to_timestamp((tick >> 12) / 1000.0),
      coalesce(actor ->> 'kind', 'system'), (actor ->> 'key_id')::uuid, actor ->> 'name',
      (actor ->> 'session_id')::uuid, actor ->> 'user', actor ->> 'request_id', actor ->> 'address', e.object, e.former
    from unnest(types, subs, objects, formers) with ordinality e (type, sub, object, former, n);
end $$;
