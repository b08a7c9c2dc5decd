-- This trigger writes the events for changed keys and touches their facts, for all rows of a statement at once. A key
-- that was replaced by rotation gets no event, because the new key's `api_key.rotated` covers it. A new last-used time
-- gets no event, because no request asked for that change. The erasure of a deleted account's keys gets none either. Nested loops are disabled so that PostgreSQL joins old and
-- new rows by a hash join. Otherwise, it might plan a nested loop for a few rows and keep that plan. With many rows, a
-- nested loop takes minutes.
create or replace function api_key_changed() returns trigger language plpgsql set enable_nestloop = off set jit = off as $$
declare
  rotated constant text := current_setting('tenancy_gateway.rotated', true);
  facts text[];
  of_account uuid;
  types text[];
  subs uuid[];
  objects jsonb[];
  formers jsonb[];
begin
  select array_agg(f.touched) into facts
    from removed o full join made n on n.id = o.id cross join lateral (values
      (case
        when o.revoked_at is null and n.revoked_at is not null or o.digest is distinct from n.digest then '-'
        else '+'
      end || api_key_log_key(o.digest)),
      (case when o.digest is distinct from n.digest then '+' || api_key_log_key(n.digest) end)
    ) f (touched)
    where f.touched is not null and (
        o.id, o.digest, o.account_id, o.scopes, o.expires_at, o.revoked_at, o.requests_per_second, o.burst,
        o.requests_per_minute, o.limit_id
      ) is distinct from (
        n.id, n.digest, n.account_id, n.scopes, n.expires_at, n.revoked_at, n.requests_per_second, n.burst,
        n.requests_per_minute, n.limit_id
      );
  perform change_touch(coalesce(facts, '{}'));
  if current_setting('tenancy_gateway.erasing', true) = 'on' then
    return null;
  end if;

  for of_account, types, subs, objects, formers in
    select
        coalesce(k.parent_id, k.account_id),
        array_agg('api_key.' || k.happened order by k.id),
        array_agg(case when k.parent_id is not null then k.account_id end order by k.id),
        array_agg(k.object order by k.id),
        array_agg(event_previous(k.former, k.object) order by k.id)
      from (
        select n.id, n.account_id, (select a.parent_id from account a where a.id = n.account_id),
          case when o.revoked_at is null and n.revoked_at is not null then 'revoked' else 'updated' end,
          api_key_shown(to_jsonb(n)), api_key_shown(to_jsonb(o))
        from removed o join made n on n.id = o.id
        where o.last_used_at is not distinct from n.last_used_at and n.id::text is distinct from rotated
          and o is distinct from n
      ) k (id, account_id, parent_id, happened, object, former)
      group by 1 order by 1
  loop
    perform event_add(of_account, types, subs, objects, formers);
  end loop;
  return null;
end $$;
