create or replace function account_create_sub_once(
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
