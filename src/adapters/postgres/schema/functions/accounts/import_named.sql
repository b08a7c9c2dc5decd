-- Returns the parent with this external_id, if there is one. Imports join their rows with this function: as a join with
-- the table, PostgreSQL would compare all rows with all parents where it has no statistics yet, such as in a database
-- that an import has just filled. PL/pgSQL is not inlined, so each row is a look-up.
create or replace function import_named(named text) returns setof account language plpgsql stable rows 1 as $$
begin
  return query select * from account a where a.parent_id is null and a.external_id = named;
end $$;
