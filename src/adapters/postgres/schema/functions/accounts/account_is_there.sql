-- Returns whether an account exists and has not been deleted. A sub-account is deleted together with its parent, even
-- before `erasure_run` has come to its row. Written in plpgsql, which keeps the query's plan for the next call: the
-- erasure of results calls this for each of them.
create or replace function account_is_there(of_id uuid) returns boolean language plpgsql stable as $$
begin
  return exists (
    select from account a left join account p on p.id = a.parent_id
    where a.id = of_id and a.deleted_at is null and p.deleted_at is null
  );
end $$;
