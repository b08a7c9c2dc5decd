-- compatible with: 4
-- Requests that may be sent again (`Idempotency-Key`). What a mutation did for one is noted in the mutation's own
-- transaction: a writer that dies has left either both or neither.

create table idempotency (
  -- The API key that called; the nil UUID stands for the operator.
  caller_key_id uuid not null,
  -- SHA-256 of the Idempotency-Key, and of the request it came with.
  key bytea not null constraint idempotency_key check (octet_length(key) = 32),
  fingerprint bytea not null constraint idempotency_fingerprint check (octet_length(fingerprint) = 32),
  at timestamptz not null default now(),
  -- The record that was made, as it was then and without secrets; null where the request is simply run again.
  made jsonb,
  primary key (caller_key_id, key)
);
create index idempotency_at on idempotency (at);

-- Whether a request is 'new', an earlier one 'again' (with what that made), or to be refused: 'mismatch', 'in-flight'.
-- Two at the same time are told apart without waiting, for as long as the transaction of the first one lasts. Called
-- before the mutation locks anything, so what may be waited for in here cannot wait for the caller.
create function idempotency_claim(
  caller uuid, request_key bytea, request_fingerprint bytea, out outcome text, out made jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  kept_for constant interval := '24 hours';
  noted idempotency;
begin
  if not pg_try_advisory_xact_lock(hashtextextended(caller || encode(request_key, 'hex'), 0)) then
    outcome := 'in-flight';
    return;
  end if;
  select * into noted from idempotency i
    where i.caller_key_id = caller and i.key = request_key and i.at > now() - kept_for;
  if found then
    outcome := case when noted.fingerprint = request_fingerprint then 'again' else 'mismatch' end;
    made := case when outcome = 'again' then noted.made end;
    return;
  end if;
  outcome := 'new';
  delete from idempotency i where i.caller_key_id = caller and i.key = request_key;
  -- Each new one takes some away that have long expired, so they cannot pile up. Long, so that none is taken that a
  -- transaction which began a little earlier still counts on.
  delete from idempotency i where i.ctid = any (array(
    select e.ctid from idempotency e
    where e.at < now() - kept_for - interval '1 hour' order by e.at limit 20 for update skip locked
  ));
end $$;

-- Notes what the mutation of a claimed request did. Nobody else can have noted this one meanwhile.
create function idempotency_note(caller uuid, request_key bytea, request_fingerprint bytea, made jsonb)
returns void language sql as $$
  insert into idempotency (caller_key_id, key, fingerprint, made) values (caller, request_key, request_fingerprint, made)
    on conflict do nothing
$$;

-- The mutations again, each for one request. What makes something is done once: again, it answers what it made then
-- ('again'), and whoever is told so waits for everything up to now. What sets a state is simply done again. Refusals
-- are not noted, because nothing happened.

create function account_create_parent_once(
  caller uuid, request_key bytea, request_fingerprint bytea, new_id uuid, new_name text,
  out outcome text, out account jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  parent account;
begin
  select c.outcome, c.made into outcome, account
    from idempotency_claim(caller, request_key, request_fingerprint) c;
  if outcome <> 'new' then
    return;
  end if;
  insert into account (id, name, status, sub_accounts, active_sub_accounts) values (new_id, new_name, 'active', 0, 0)
    returning * into parent;
  outcome := 'done';
  account := to_jsonb(parent);
  perform idempotency_note(caller, request_key, request_fingerprint, account);
end $$;

create function account_create_sub_once(
  caller uuid, request_key bytea, request_fingerprint bytea,
  new_parent uuid, new_id uuid, new_name text, new_external_id text, new_metadata jsonb, max_sub_accounts int,
  out outcome text, out seq bigint, out holder uuid, out account jsonb
) language plpgsql as $$
#variable_conflict use_column
begin
  select c.outcome, c.made into outcome, account
    from idempotency_claim(caller, request_key, request_fingerprint) c;
  if outcome <> 'new' then
    seq := case when outcome = 'again' then coherence_position() end;
    return;
  end if;
  select m.outcome, m.seq, m.holder, m.account into outcome, seq, holder, account
    from account_create_sub(new_parent, new_id, new_name, new_external_id, new_metadata, max_sub_accounts) m;
  if outcome = 'done' then
    perform idempotency_note(caller, request_key, request_fingerprint, account);
  end if;
end $$;

create function account_set_sub_status_once(
  caller uuid, request_key bytea, request_fingerprint bytea, of_parent uuid, of_id uuid, new_status text,
  out outcome text, out seq bigint, out account jsonb
) language plpgsql as $$
#variable_conflict use_column
begin
  select c.outcome into outcome from idempotency_claim(caller, request_key, request_fingerprint) c;
  if outcome not in ('new', 'again') then
    return;
  end if;
  select m.outcome, m.seq, m.account into outcome, seq, account
    from account_set_sub_status(of_parent, of_id, new_status) m;
  if outcome = 'done' then
    perform idempotency_note(caller, request_key, request_fingerprint, null);
  end if;
end $$;

create function account_set_parent_status_once(
  caller uuid, request_key bytea, request_fingerprint bytea, of_id uuid, new_status text,
  out outcome text, out seq bigint, out account jsonb
) language plpgsql as $$
#variable_conflict use_column
begin
  select c.outcome into outcome from idempotency_claim(caller, request_key, request_fingerprint) c;
  if outcome not in ('new', 'again') then
    return;
  end if;
  select m.outcome, m.seq, m.account into outcome, seq, account from account_set_parent_status(of_id, new_status) m;
  if outcome = 'done' then
    perform idempotency_note(caller, request_key, request_fingerprint, null);
  end if;
end $$;

create function api_key_create_once(
  caller uuid, request_key bytea, request_fingerprint bytea,
  of_account uuid, new_id uuid, new_name text, new_scopes jsonb, new_digest bytea, new_client_secret_digest bytea,
  new_prefix text, new_last4 text, new_expires_at timestamptz, max_keys int,
  out outcome text, out key jsonb
) language plpgsql as $$
#variable_conflict use_column
begin
  select c.outcome, c.made into outcome, key from idempotency_claim(caller, request_key, request_fingerprint) c;
  if outcome <> 'new' then
    return;
  end if;
  select m.outcome, m.key into outcome, key
    from api_key_create(of_account, new_id, new_name, new_scopes, new_digest, new_client_secret_digest, new_prefix,
      new_last4, new_expires_at, max_keys) m;
  if outcome = 'done' then
    perform idempotency_note(caller, request_key, request_fingerprint, key);
  end if;
end $$;

create function api_key_revoke_once(
  caller uuid, request_key bytea, request_fingerprint bytea, of_account uuid, of_id uuid,
  out outcome text, out seq bigint, out key jsonb
) language plpgsql as $$
#variable_conflict use_column
begin
  select c.outcome into outcome from idempotency_claim(caller, request_key, request_fingerprint) c;
  if outcome not in ('new', 'again') then
    return;
  end if;
  select m.outcome, m.seq, m.key into outcome, seq, key from api_key_revoke(of_account, of_id) m;
  if outcome = 'done' then
    perform idempotency_note(caller, request_key, request_fingerprint, null);
  end if;
end $$;
