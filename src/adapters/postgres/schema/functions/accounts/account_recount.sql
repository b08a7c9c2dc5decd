-- Recounts a parent's sub-accounts.
create or replace function account_recount(of_parent uuid) returns void language plpgsql as $$
begin
  perform from account a where a.id = of_parent for no key update;
  -- This query's snapshot is newer than the lock, so the counts include every change committed before the lock was
  -- granted.
  update account a set sub_accounts = c.every, active_sub_accounts = c.active
    from (
      select count(*) as every, count(*) filter (where s.status = 'active') as active
      from account s where s.parent_id = of_parent and s.deleted_at is null
    ) c
    where a.id = of_parent and (a.sub_accounts, a.active_sub_accounts) is distinct from (c.every, c.active);
end $$;
