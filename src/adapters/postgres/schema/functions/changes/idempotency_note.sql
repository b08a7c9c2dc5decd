-- Stores the result of a claimed request. The lock that `idempotency_claim` took keeps other requests from storing a
-- result under the same claim.
create or replace function idempotency_note(caller uuid, request_key bytea, request_fingerprint bytea, made jsonb)
returns void language sql as $$
  insert into idempotency (caller_key_id, key, fingerprint, made) values (caller, request_key, request_fingerprint, made)
    on conflict do nothing
$$;
