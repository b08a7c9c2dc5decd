-- Returns the rows of parents, and those of sub-accounts whose parents exist, with their row numbers, the parents' ids and
-- the accounts that have the rows' external_ids. `there` is null if there is no such account.
create or replace function import_accounts(new_rows jsonb)
returns table (n bigint, row_data jsonb, parent_id uuid, there account) language sql stable as $$
  select r.n, r.row_data, r.parent_id, named from (
    select * from import_parents(new_rows)
    union all
    select p.n, p.row_data, null from jsonb_array_elements(new_rows) with ordinality p (row_data, n)
    where not p.row_data ?| '{parent,parent_external_id}'
  ) r left join lateral account_named(r.parent_id, r.row_data ->> 'external_id') named on true
$$;
