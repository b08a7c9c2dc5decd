-- Compares an existing account with the name, the metadata and, if the row has one, the plan in a row. Returns 'unchanged', 'updated' or the reason for a
-- rejection.
create or replace function import_outcome(there account, new_row jsonb, max_pairs int) returns text language sql stable as $$
  select case
    when (new_row ->> 'id_given')::boolean and there.id <> (new_row ->> 'id')::uuid then 'external-id-taken'
    when there.name = new_row ->> 'name' and m.merged = there.metadata
      and (not new_row ? 'plan' or new_row ->> 'plan' is not distinct from there.plan) then 'unchanged'
    when (select count(*) from jsonb_object_keys(m.merged)) > max_pairs then 'too-many-pairs'
    else 'updated'
  end
  from jsonb_strip_nulls(there.metadata || (new_row -> 'metadata')) m (merged)
$$;
