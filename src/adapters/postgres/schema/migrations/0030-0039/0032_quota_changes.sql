-- compatible with: 4
-- locks for a moment: account
-- A changed quota is told to the row of its month, also where a replica of an earlier version makes the change.

create trigger account_quota_changed after update on account for each row
  when (old.requests_per_month is distinct from new.requests_per_month)
  execute function account_quota_changed();
