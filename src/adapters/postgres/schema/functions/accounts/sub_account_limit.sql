-- Returns a parent's maximum number of sub-accounts: its own, or its plan's, or else the configured one; null if it has
-- none.
create or replace function sub_account_limit(parent account, configured int) returns int language sql stable as $$
  select case when 'max_sub_accounts' <> all (parent.unlimited) then coalesce(
    parent.max_sub_accounts, (select p.max_sub_accounts from plan p where p.name = parent.plan), configured
  ) end
$$;
