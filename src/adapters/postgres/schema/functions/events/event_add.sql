-- Writes one parent's events; each array has one element per event. `change_begin` has stored who is making the change,
-- and from which address, in a setting of this transaction. What changes of the parent's keys leave counts towards its
-- budget (`require_budget`), with 500 bytes an event for the other columns and the indexes.
create or replace function event_add(of_account uuid, types text[], subs uuid[], objects jsonb[], formers jsonb[])
returns void language plpgsql as $$
declare
  actor constant jsonb := nullif(current_setting('tenancy_gateway.actor', true), '')::jsonb;
  tick constant bigint := event_tick(of_account);
  size constant bigint := pg_column_size(objects) + pg_column_size(formers) + 500 * cardinality(types);
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
  insert into event_spent as s (account_id, session_id, day, bytes)
    select of_account, o.id, date_trunc('day', now(), 'UTC'), size
    from unnest(array['00000000-0000-0000-0000-000000000000', (actor ->> 'session_id')::uuid]) o (id)
    where o.id is not null and actor ->> 'kind' <> 'operator'
  on conflict (account_id, session_id) do update
    set day = excluded.day, bytes = excluded.bytes + case when s.day = excluded.day then s.bytes else 0 end;
end $$;
