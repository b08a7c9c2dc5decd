create or replace function account_create_parent_once(
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
