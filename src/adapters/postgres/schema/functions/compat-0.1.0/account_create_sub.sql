create or replace function account_create_sub(
  new_parent uuid, new_id uuid, new_name text, new_external_id text, new_metadata jsonb, max_sub_accounts int,
  out outcome text, out seq bigint, out holder uuid, out account jsonb
) language sql as $$
  select * from account_create_sub(
    '{}', new_parent, new_id, new_name, new_external_id, new_metadata, max_sub_accounts
  )
$$;
