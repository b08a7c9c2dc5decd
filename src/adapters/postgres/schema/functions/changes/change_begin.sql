-- Begins a change. `outcome` is null if the change may go on. Otherwise it is the outcome of the whole change:
-- - 'key-unknown', 'key-revoked', 'key-expired' or 'account-suspended' if the caller may no longer ask for the change;
--   such a caller does not get the result of an earlier request either;
-- - 'no-account' if there is no such owner;
-- - 'again' if an earlier request with the same claim made the change; `made` is the record that the change created or
--   changed, or null if a replica of 0.1.0 changed a status or revoked a key;
-- - 'mismatch' or 'in-flight', as in `idempotency_claim`.
--
-- A repeated request never acts again, because another request may have undone its effect on purpose.
--
-- `request` is the first argument of each change, and says who asks for the change:
-- - `caller` (`key` and `account`, two ids), if a parent's key asks: the gateway has decided by facts in memory, and
--   may have waited since, so the key is checked again;
-- - `operator`, the name of the token, if an operator asks;
-- - `id` and `address` of the request, for its event;
-- - `claim` (`caller`, the nil UUID for the operator; `key` and `fingerprint`, SHA-256 in hex), if the request has an
--   Idempotency-Key;
-- - `limits` that a new account or key begins with;
-- - `owner` (`id` and `parent`), if the keys to change must be those of a sub-account of this parent, or of a parent
--   account if `parent` is null. The parent of an account never changes, so the check needs no lock.
--
-- Replicas of 0.1.0 give no caller: their changes are made without this check.
--
-- Every change takes these steps in this order, so that no two changes can deadlock and the lock of positions is held
-- for the shortest time:
-- - `change_begin`, before the change locks anything;
-- - `change_fence`, if the change ends the right of a key or of a parent account;
-- - the row locks from the top down (parent, sub-account, key);
-- - the writes; triggers see the written rows, write the events, and touch the facts to log;
-- - `change_end`, which takes the position.
--
-- The `outcome` of a change is 'done' or 'again', or says why nothing happened. `seq` is the position that its 2xx
-- waits for, or null if no replica can remember an outdated fact.
create or replace function change_begin(request jsonb, out outcome text, out made jsonb) language plpgsql as $$
#variable_conflict use_column
declare
  claim constant jsonb := request -> 'claim';
  caller constant jsonb := request -> 'caller';
  key_name text;
begin
  perform require_read_committed();
  if caller is not null then
    perform pg_advisory_xact_lock_shared(change_fence_key((caller ->> 'account')::uuid));
    -- This query uses a later snapshot than the lock, so it sees a commit that ended the key's right before the lock
    -- was granted.
    select case
        when k.revoked_at is not null then 'key-revoked'
        when k.expires_at <= clock_timestamp() then 'key-expired'
        when a.status <> 'active' then 'account-suspended'
      end, k.name into outcome, key_name
      from api_key k join account a on a.id = k.account_id
      where k.id = (caller ->> 'key')::uuid and k.account_id = (caller ->> 'account')::uuid;
    if not found then
      outcome := 'key-unknown';
    end if;
    if outcome is not null then
      return;
    end if;
  end if;
  if request ? 'owner' and not exists (
    select from account a
    where a.id = (request #>> '{owner,id}')::uuid
      and a.parent_id is not distinct from (request #>> '{owner,parent}')::uuid
  ) then
    outcome := 'no-account';
    return;
  end if;
  if caller is not null or request ? 'operator' then
    perform set_config('tenancy_gateway.actor', jsonb_build_object(
      'kind', case when caller is null then 'operator' else 'api_key' end,
      'key_id', caller -> 'key', 'name', coalesce(key_name, request ->> 'operator'),
      'request_id', request -> 'id', 'address', request -> 'address'
    )::text, true);
  end if;
  if claim is null then
    return;
  end if;
  select nullif(c.outcome, 'new'), c.made into outcome, made
    from idempotency_claim(
      (claim ->> 'caller')::uuid, decode(claim ->> 'key', 'hex'), decode(claim ->> 'fingerprint', 'hex')
    ) c;
end $$;
