-- Returns the account with this external_id, if there is one: a sub-account of `of_parent`, or a parent if that is null.
-- Imports join their rows with this function: as a join with the table, PostgreSQL would compare all rows with all
-- accounts where it has no statistics yet, such as in a database that an import has just filled. PL/pgSQL is not
-- inlined, so each row is a look-up.
create or replace function account_named(of_parent uuid, named text) returns setof account language plpgsql stable rows 1 as $$
begin
  if of_parent is null then
    return query select * from account a where a.parent_id is null and a.external_id = named;
  else
    return query select * from account a where a.parent_id = of_parent and a.external_id = named;
  end if;
end $$;
