create or replace function api_key_revoke(
  of_account uuid, of_id uuid, out outcome text, out seq bigint, out key jsonb
) language sql as $$
  select * from api_key_revoke('{}', of_account, of_id)
$$;
