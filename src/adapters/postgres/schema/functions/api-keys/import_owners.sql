-- Returns the rows that name an existing parent, with the parent and the key's owner. If the row has a
-- `sub_external_id`, the owner is the parent's sub-account with this external_id; `owner_id` is null if there is no
-- such sub-account. Otherwise, the owner is the parent.
create or replace function import_owners(new_rows jsonb) returns table (n bigint, row_data jsonb, parent_id uuid, owner_id uuid)
language sql stable as $$
  select r.n, r.row_data, r.parent_id, case when r.row_data ->> 'sub_external_id' is null then r.parent_id else (
    select s.id from account s where s.parent_id = r.parent_id and s.external_id = r.row_data ->> 'sub_external_id'
  ) end
  from import_parents(new_rows) r
$$;
