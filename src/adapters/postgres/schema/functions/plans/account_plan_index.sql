-- This trigger keeps `plan_account` in sync with `account`, whichever version of the gateway writes to `account`.
create or replace function account_plan_index() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    delete from plan_account l where l.plan = old.plan and l.created_at = old.created_at and l.account_id = old.id;
  end if;
  if tg_op <> 'DELETE' and new.plan is not null then
    insert into plan_account (plan, created_at, account_id) values (new.plan, new.created_at, new.id);
  end if;
  return null;
end $$;
