create or replace function account_update_sub(
  of_parent uuid, of_id uuid, change jsonb, max_pairs int,
  out outcome text, out seq bigint, out holder uuid, out account jsonb
) language sql as $$
  select * from account_update_sub('{}', of_parent, of_id, change, max_pairs)
$$;
