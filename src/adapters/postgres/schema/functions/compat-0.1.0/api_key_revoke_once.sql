create or replace function api_key_revoke_once(
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
