create or replace function account_set_parent_status(
  of_id uuid, new_status text, out outcome text, out seq bigint, out account jsonb
) language sql as $$
  select * from account_set_parent_status('{}', of_id, new_status)
$$;
