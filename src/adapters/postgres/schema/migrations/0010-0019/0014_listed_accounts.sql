-- compatible with: 4
-- Lists the accounts from before 0013. A step of its own, since it may take seconds: it locks nothing that is in use, and
-- the trigger of 0013, which is committed, lists what comes meanwhile.

insert into account_listed (owner_id, created_at, id)
  select coalesce(a.parent_id, '00000000-0000-0000-0000-000000000000'), a.created_at, a.id from account a
  order by 1, 2, 3
  on conflict do nothing;

analyze account_listed;
