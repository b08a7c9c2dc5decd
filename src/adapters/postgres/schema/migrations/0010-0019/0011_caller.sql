-- compatible with: 4
-- A change is decided about by the gateway, and may wait for a connection, a lock or a process that stands still after
-- that. So the key that asks for it is looked at once more in the change's own transaction. Functions alone: no table is
-- locked.
--
-- `request` has a member `caller` where a parent's key asks: `key` and `account`, the ids of the two. An operator's
-- request has none, nor has that of a replica of an earlier version: its changes are made as they were before.
--
-- Which of two comes first, a change or what ends the right to it, is decided by a lock for each account
-- (`change_fence_key`). A change has it shared, from its beginning to its commit; a revoke or a suspension has it alone. So
-- a revoke waits for the changes of its account that have begun, and later ones wait for the revoke and see it. It is an
-- advisory lock and not one of a row, since waiting for those goes by turns: with row locks, changes that keep coming
-- would let no revoke through. It also leaves nothing to be written.
--
-- The order of a change is now: `change_begin`, `change_fence` where it ends a key's or an account's right, the row locks
-- from the top down, the write, `change_note`, the position.

create function change_fence_key(account uuid) returns bigint language sql immutable as $$
  select hashtextextended('change_fence ' || account::text, 0)
$$;

-- Waits for the changes that keys of this account have begun, and keeps others from beginning until the commit. To be
-- called by what revokes a key, lets it expire or suspends its account, before it locks any row: a change that it waits
-- for may be waiting for that row.
create function change_fence(account uuid) returns void language sql volatile as $$
  select pg_advisory_xact_lock(change_fence_key(account))
$$;

-- Whether the change may go on: null. Otherwise the outcome of the whole change: 'key-unknown', 'key-revoked',
-- 'key-expired' or 'account-suspended' where the caller may not ask for it any more, not even for what an earlier request
-- made; and as in 0010. To be called before anything is locked.
create or replace function change_begin(request jsonb, out outcome text, out made jsonb) language plpgsql as $$
#variable_conflict use_column
declare
  claim constant jsonb := request -> 'claim';
  caller constant jsonb := request -> 'caller';
begin
  if caller is not null then
    perform pg_advisory_xact_lock_shared(change_fence_key((caller ->> 'account')::uuid));
    -- In a later snapshot than the lock: what ended this key's right and was committed before is seen.
    select case
        when k.revoked_at is not null then 'key-revoked'
        when k.expires_at <= clock_timestamp() then 'key-expired'
        when a.status <> 'active' then 'account-suspended'
      end into outcome
      from api_key k join account a on a.id = k.account_id
      where k.id = (caller ->> 'key')::uuid and k.account_id = (caller ->> 'account')::uuid;
    if not found then
      outcome := 'key-unknown';
    end if;
    if outcome is not null then
      return;
    end if;
  end if;
  if claim is null then
    return;
  end if;
  select nullif(c.outcome, 'new'), c.made into outcome, made
    from idempotency_claim(
      (claim ->> 'caller')::uuid, decode(claim ->> 'key', 'hex'), decode(claim ->> 'fingerprint', 'hex')
    ) c;
end $$;

-- As in 0010, but for the fence.

create or replace function account_set_parent_status(
  request jsonb, of_id uuid, new_status text, out outcome text, out seq bigint, out account jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  made account;
  log_key text := 'a:' || of_id;
begin
  select b.outcome, b.made into outcome, account from change_begin(request) b;
  if outcome is not null then
    if outcome = 'again' then
      seq := coherence_position();
      account := coalesce(account, (select to_jsonb(a) from account a where a.id = of_id and a.parent_id is null));
    end if;
    return;
  end if;
  perform change_fence(of_id);
  select * into made from account a where a.id = of_id and a.parent_id is null for no key update;
  if not found then
    outcome := 'none';
    return;
  end if;
  outcome := 'done';
  if made.status = new_status then
    perform change_note(request, to_jsonb(made));
    seq := coherence_position();
  else
    update account a set status = new_status, updated_at = now() where a.id = of_id returning * into made;
    perform change_note(request, to_jsonb(made));
    seq := coherence_record(
      array[log_key], case when new_status = 'suspended' then array[log_key] else '{}' end
    );
  end if;
  account := to_jsonb(made);
end $$;

create or replace function api_key_revoke(
  request jsonb, of_account uuid, of_id uuid, out outcome text, out seq bigint, out key jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  made api_key;
begin
  select b.outcome, b.made into outcome, key from change_begin(request) b;
  if outcome is not null then
    if outcome = 'again' then
      seq := coherence_position();
      key := coalesce(
        key, (select api_key_json(k) from api_key k where k.id = of_id and k.account_id = of_account)
      );
    end if;
    return;
  end if;
  perform change_fence(of_account);
  select * into made from api_key k where k.id = of_id and k.account_id = of_account for no key update;
  if not found then
    outcome := 'none';
    return;
  end if;
  outcome := 'done';
  if made.revoked_at is not null then
    perform change_note(request, api_key_json(made));
    seq := coherence_position();
  else
    update api_key k set revoked_at = now() where k.id = of_id returning * into made;
    perform change_note(request, api_key_json(made));
    seq := coherence_record(array[api_key_log_key(made.digest)], array[api_key_log_key(made.digest)]);
  end if;
  key := api_key_json(made);
end $$;
