-- This trigger keeps `account_listed` and `parent_external_id` in sync with `account`, whichever version of the gateway
-- writes to `account`.
create or replace function account_index() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    delete from parent_external_id p where p.account_id = old.id;
  end if;
  if tg_op = 'INSERT' then
    insert into account_listed (owner_id, created_at, id)
      values (coalesce(new.parent_id, '00000000-0000-0000-0000-000000000000'), new.created_at, new.id)
      on conflict do nothing;
  elsif tg_op = 'DELETE' then
    delete from account_listed l
      where l.owner_id = coalesce(old.parent_id, '00000000-0000-0000-0000-000000000000')
        and l.created_at = old.created_at and l.id = old.id;
    return null;
  end if;
  if new.parent_id is null and new.external_id is not null then
    insert into parent_external_id (external_id, account_id) values (new.external_id, new.id);
  end if;
  return null;
end $$;
