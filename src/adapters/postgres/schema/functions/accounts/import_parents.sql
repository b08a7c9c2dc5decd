-- Returns the rows that name an existing parent, with their row numbers and the parents' ids. `offset 0` keeps a look-up
-- by id for each row; see `account_named`.
create or replace function import_parents(new_rows jsonb) returns table (n bigint, row_data jsonb, parent_id uuid)
language sql stable as $$
  select r.n, r.row_data, a.id
  from jsonb_array_elements(new_rows) with ordinality r (row_data, n)
    cross join lateral (
      select p.id from account p
      where p.parent_id is null and p.deleted_at is null and p.id = coalesce(
        (r.row_data ->> 'parent')::uuid, (select named.id from account_named(null, r.row_data ->> 'parent_external_id') named)
      )
      offset 0
    ) a
$$;
