-- This trigger touches the facts of a deleted account.
create or replace function account_deleted() returns trigger language plpgsql as $$
begin
  perform change_touch(array_remove(array[
    '-a:' || old.id, case when old.parent_id is null then '+n:' || old.id end, '+' || external_id_log_key(old)
  ], null));
  if old.parent_id is not null then
    perform account_uncounted(old.parent_id);
  end if;
  return null;
end $$;
