create or replace function account_set_parent_status_once(
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
