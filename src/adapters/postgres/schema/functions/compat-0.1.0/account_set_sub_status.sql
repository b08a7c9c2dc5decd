create or replace function account_set_sub_status(
  of_parent uuid, of_id uuid, new_status text, out outcome text, out seq bigint, out account jsonb
) language sql as $$
  select * from account_set_sub_status('{}', of_parent, of_id, new_status)
$$;
