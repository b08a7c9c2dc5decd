-- Same as `account_create_sub`, but `outcome` is 'id-taken' if another account has the id.
create or replace function account_create_sub_with_id(
  request jsonb,
  new_parent uuid, new_id uuid, new_name text, new_external_id text, new_metadata jsonb, max_sub_accounts int,
  out outcome text, out seq bigint, out holder uuid, out account jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  violated text;
begin
  select c.outcome, c.seq, c.holder, c.account into outcome, seq, holder, account from account_create_sub(
    request, new_parent, new_id, new_name, new_external_id, new_metadata, max_sub_accounts
  ) c;
exception when unique_violation then
  get stacked diagnostics violated = constraint_name;
  if violated <> 'account_pkey' then
    raise;
  end if;
  outcome := 'id-taken';
end $$;
