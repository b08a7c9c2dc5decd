-- Begins a change. `outcome` is null if the change may proceed. Otherwise, it is the outcome of the whole change:
-- - 'key-unknown', 'key-revoked', 'key-expired', 'account-suspended' or 'session-ended' if the caller may no longer make
--   changes; such a caller does not get the result of an earlier request either;
-- - 'no-account' if the owner in `request` does not exist, or if everything that an earlier request with the same claim
--   made belongs to accounts that have been deleted since;
-- - 'again' if an earlier request with the same claim already made the change; `made` is the record that the change
--   created or changed, or the keys that it imported, those of deleted accounts without their names. Some replicas may
--   not have confirmed that change yet, so the 2xx waits for `seq`, the newest position;
-- - 'mismatch' or 'in-flight', as in `idempotency_claim`.
--
-- A repeated request is never carried out again, because another request may have deliberately undone its effect.
--
-- `request` is the first argument of every change function, and says who is asking for the change:
-- - `caller` (the ids `key` and `account`), if the request uses a parent's key. The gateway has checked the key
--   against facts in memory, which may be outdated by now. So this function checks the key again. A change in the portal
--   also has the id of its `session`, which then does not end before this change;
-- - `operator`, the name of the token, if an operator sent the request;
-- - `id` and `address` of the request, for the event;
-- - `claim`, if the request has an Idempotency-Key. Its members are `caller` (the id of the caller's key, or the nil
--   UUID for an operator), `key` and `fingerprint` (both SHA-256 in hex);
-- - `limits`, the initial limits of a new account or key;
-- - `budget` (`bytes` of events a day, and `api_keys`, the configured maximum number of keys of an account), if the request
--   uses a parent's key, and `takes_away` if the change only takes rights away: no budget refuses such a change;
-- - `owner`, if the keys to change must belong to a given account: its `id`, and its `parent`, which is null for a
--   parent account. An account's parent never changes, so the check needs no lock.
--
-- Every change follows these steps in this order, so that no two changes can deadlock and the position lock is held as
-- briefly as possible:
-- - `change_begin`, before the change locks anything;
-- - `change_fence`, if the change takes rights away from a key or a parent account;
-- - the row locks, top down (parent, sub-account, key);
-- - `plan_hold`, if it reads the limits of plans;
-- - the writes; triggers write their events, and note the facts to log;
-- - `change_end`, which takes the change's position in the coherence log.
--
-- Every change function that calls this one returns an `outcome` and a `seq`. Its `outcome` is 'done' or 'again', or says
-- why nothing happened. Its `seq` is the log position that the change's 2xx waits for, or null if no replica can have
-- cached an outdated fact.
create or replace function change_begin(request jsonb, out outcome text, out made jsonb, out seq bigint) language plpgsql as $$
#variable_conflict use_column
declare
  claim constant jsonb := request -> 'claim';
  caller constant jsonb := request -> 'caller';
  key_name text;
  session portal_session;
begin
  perform require_settings();
  if caller is not null then
    perform pg_advisory_xact_lock_shared(change_fence_key((caller ->> 'account')::uuid));
    -- This query's snapshot is newer than the lock, so it sees any commit that took the key's rights away before the
    -- lock was granted.
    select case
        when k.revoked_at is not null or a.deleted_at is not null then 'key-revoked'
        when k.expires_at <= clock_timestamp() then 'key-expired'
        when a.status <> 'active' then 'account-suspended'
      end, k.name into outcome, key_name
      from api_key k join account a on a.id = k.account_id
      where k.id = (caller ->> 'key')::uuid and k.account_id = (caller ->> 'account')::uuid;
    if not found then
      outcome := 'key-unknown';
    end if;
    if outcome is null and caller ? 'session' then
      -- An end of the session waits for this lock, that is, for this change.
      select * into session from portal_session s
        where s.id = (caller ->> 'session')::uuid and s.account_id = (caller ->> 'account')::uuid and s.redeemed for share;
      if not found or not portal_session_in_force(session) then
        outcome := 'session-ended';
      end if;
    end if;
    if outcome is not null then
      return;
    end if;
  end if;
  if request ? 'owner' and not exists (
    select from account a
    where a.id = (request #>> '{owner,id}')::uuid
      and a.parent_id is not distinct from (request #>> '{owner,parent}')::uuid and account_is_there(a.id)
  ) then
    outcome := 'no-account';
    return;
  end if;
  if caller is not null or request ? 'operator' then
    perform set_config('tenancy_gateway.actor', jsonb_build_object(
      'kind', case when caller is null then 'operator' when session.id is null then 'api_key' else 'portal' end,
      'key_id', caller -> 'key', 'name', coalesce(key_name, request ->> 'operator'),
      'request_id', request -> 'id', 'address', request -> 'address',
      'session_id', session.id, 'user', session.user_label
    )::text, true);
  end if;
  if claim is not null then
    select nullif(c.outcome, 'new'), c.made into outcome, made
      from idempotency_claim(
        (claim ->> 'caller')::uuid, decode(claim ->> 'key', 'hex'), decode(claim ->> 'fingerprint', 'hex')
      ) c;
    -- Accounts may have been deleted since. Then the earlier result does not show them any more, even before it is erased.
    if outcome = 'again' then
      if result_is_deleted(made) then
        outcome := 'no-account';
        made := null;
      else
        made := result_erased(made);
        seq := coherence_position();
      end if;
    end if;
  end if;
  if outcome is null and not request ? 'takes_away' then
    perform require_budget(request);
  end if;
end $$;
