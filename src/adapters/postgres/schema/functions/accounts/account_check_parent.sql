-- This trigger keeps the account tree two levels deep: a sub-account's parent must be a parent account, and an account
-- can never change its parent. A foreign key alone would allow grandchildren.
create or replace function account_check_parent() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    raise integrity_constraint_violation using message = 'an account keeps its parent', constraint = 'account_parent';
  end if;
  perform from account where id = new.parent_id and parent_id is null;
  if not found then
    raise integrity_constraint_violation
      using message = 'the parent of a sub-account is a parent account', constraint = 'account_parent';
  end if;
  return new;
end $$;
