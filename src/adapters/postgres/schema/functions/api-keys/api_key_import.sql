-- Imports keys for a parent and its sub-accounts, either all of them or none. `new_keys` is an array of objects with
-- `id`, `owner`, `name`, `scopes`, `digest` (hex, after `\x`), `prefix`, `last4`, `expires_at` and `imported_under`.
-- The digests are all different.
--
-- Replicas may have cached a new key as unknown, because its holder may already be using it. So all new keys are logged
-- at one position, which the 2xx waits for. A key that its owner already has is left unchanged, even if it is revoked
-- or expired. If no key is new, the 2xx waits for the newest position, because an earlier import may have logged the
-- keys and failed before its 2xx.
--
-- `outcome` is 'none' if the parent does not exist. Three outcomes say that some keys prevent the import; `faults` then
-- lists the indexes (from 0) of those keys:
-- - 'no-owner' if the owner is neither the parent nor one of its sub-accounts;
-- - 'taken' if another account has the key;
-- - 'limit' if an account would exceed its maximum number of keys; `keys` then contains that maximum.
create or replace function api_key_import(
  request jsonb, of_parent uuid, new_keys jsonb, max_keys int,
  out outcome text, out seq bigint, out imported int, out keys jsonb, out faults jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  made jsonb;
begin
  select b.outcome, b.made, b.seq into outcome, made, seq from change_begin(request) b;
  if outcome is not null then
    imported := (made ->> 'imported')::int;
    keys := made -> 'keys';
    return;
  end if;
  -- Only one import runs at a time, because two imports may contain the same keys for different accounts.
  perform pg_advisory_xact_lock(7311970454);
  perform from account a where a.id = of_parent and a.parent_id is null and a.deleted_at is null for no key update;
  if not found then
    outcome := 'none';
    return;
  end if;
  -- Creating a key takes the same lock on its account, so the count below includes all keys created so far. Rows are
  -- locked in id order, as in `account_import`, so the two functions cannot deadlock.
  perform from account a
    where a.parent_id = of_parent and a.id in (select (k ->> 'owner')::uuid from jsonb_array_elements(new_keys) k)
    order by a.id for no key update;
  perform plan_hold_of(array[of_parent]);

  select jsonb_agg(k.n - 1 order by k.n) into faults
    from jsonb_array_elements(new_keys) with ordinality k (key, n)
    where not exists (
      select from account a
      where a.id = (k.key ->> 'owner')::uuid and (a.id = of_parent or a.parent_id = of_parent)
        and a.deleted_at is null
    );
  if faults is not null then
    outcome := 'no-owner';
    return;
  end if;
  select jsonb_agg(k.n - 1 order by k.n) into faults
    from jsonb_array_elements(new_keys) with ordinality k (key, n)
      join api_key there on there.digest = (k.key ->> 'digest')::bytea
    where there.account_id <> (k.key ->> 'owner')::uuid;
  if faults is not null then
    outcome := 'taken';
    return;
  end if;
  with fresh as (
    select k.n, (k.key ->> 'owner')::uuid as owner
    from jsonb_array_elements(new_keys) with ordinality k (key, n)
    where not exists (select from api_key there where there.digest = (k.key ->> 'digest')::bytea)
  ), counted as materialized (
    -- Each owner's existing keys are counted once, before the join. After the join, PostgreSQL would count them again
    -- for every new key.
    select fresh.owner, count(*) + api_key_count(fresh.owner) as keys from fresh group by fresh.owner
  )
  select jsonb_agg(fresh.n - 1 order by fresh.n) into faults
    from fresh join counted c on c.owner = fresh.owner where c.keys > api_key_limit(of_parent, max_keys);
  if faults is not null then
    outcome := 'limit';
    keys := jsonb_build_object('limit', api_key_limit(of_parent, max_keys));
    return;
  end if;

  with fresh as (
    insert into api_key (id, account_id, name, scopes, digest, prefix, last4, expires_at, imported_under)
      select k.id, k.owner, k.name, k.scopes, k.digest, k.prefix, k.last4, k.expires_at, k.imported_under
      from jsonb_to_recordset(new_keys) as k (
        id uuid, owner uuid, name text, scopes text[], digest bytea, prefix text, last4 text, expires_at timestamptz,
        imported_under text
      )
      on conflict (digest) do nothing
      returning digest
  )
  select count(*) into imported from fresh;
  select jsonb_agg(api_key_shown(to_jsonb(there)) order by k.n) into keys
    from jsonb_array_elements(new_keys) with ordinality k (key, n)
      join api_key there on there.digest = (k.key ->> 'digest')::bytea;
  outcome := 'done';
  seq := change_end(request, jsonb_build_object('imported', imported, 'keys', keys), imported > 0);
end $$;
