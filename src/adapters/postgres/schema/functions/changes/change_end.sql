-- Ends a change whose outcome is 'done', after its last write. Stores `made` as the result of the request, in case the
-- request is sent again; the lock that `idempotency_claim` took keeps other requests from storing a result under the same
-- claim. Takes the change's position and returns it.
--
-- `wrote` says whether the change wrote something that facts show. If so, and there are no facts to log, the triggers did
-- not run, and the change fails. If not, the result is the newest position: an earlier change wrote it, and the 2xx waits
-- for that. If `wrote` is null, the result is null if the change touched no facts.
create or replace function change_end(request jsonb, made jsonb, wrote boolean default null) returns bigint language plpgsql as $$
declare
  claim constant jsonb := request -> 'claim';
  seq bigint;
begin
  if claim is not null then
    insert into idempotency (caller_key_id, key, fingerprint, made)
      values ((claim ->> 'caller')::uuid, decode(claim ->> 'key', 'hex'), decode(claim ->> 'fingerprint', 'hex'), made)
      on conflict do nothing;
  end if;
  -- The change has already updated the sub-account counts, so `change_commit` need not recount.
  perform set_config('tenancy_gateway.uncounted', '', true);
  seq := change_position();
  if seq is null and wrote then
    raise exception using errcode = 'TG003', message = 'a change noted no facts, so the triggers did not run';
  end if;
  return case when wrote is null then seq else coalesce(seq, coherence_position()) end;
end $$;
