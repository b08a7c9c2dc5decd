-- Returns the rows that name an existing parent, with their row numbers and the parents' ids.
create or replace function import_parents(new_rows jsonb) returns table (n bigint, row_data jsonb, parent_id uuid)
language sql stable as $$
  select r.n, r.row_data, a.id
  from jsonb_array_elements(new_rows) with ordinality r (row_data, n)
    left join account named
      on r.row_data ->> 'parent' is null and named.parent_id is null
        and named.external_id = r.row_data ->> 'parent_external_id'
    join account a on a.id = coalesce((r.row_data ->> 'parent')::uuid, named.id) and a.parent_id is null
      and a.deleted_at is null
$$;
