-- compatible with: 6
-- locks for a moment: account
-- Triggers keep events, facts, lists and quotas in sync with account rows, whether hand-written SQL or any version of
-- the gateway changes them.

create trigger account_index_on_insert after insert on account for each row execute function account_index();
create trigger account_index_on_delete after delete on account for each row execute function account_index();
create trigger account_index_on_update after update of external_id on account for each row
  when (new.parent_id is null and new.external_id is distinct from old.external_id) execute function account_index();

create trigger account_created after insert on account for each row execute function account_created();
-- A parent's counts change with each sub-account, but its fact changes only if it gains its first active sub-account or
-- loses its last one. Other changes to the counts do not fire the trigger.
create trigger account_changed after update on account for each row
  when (
    old.* is distinct from new.*
    and (
      (old.sub_accounts, old.active_sub_accounts) is not distinct from (new.sub_accounts, new.active_sub_accounts)
      or (old.active_sub_accounts = 0) is distinct from (new.active_sub_accounts = 0)
      or (old.status, old.external_id) is distinct from (new.status, new.external_id)
    )
  )
  execute function account_changed();
create trigger account_deleted after delete on account for each row execute function account_deleted();
create constraint trigger account_commit after insert or update or delete on account deferrable initially deferred
  for each row execute function change_commit();

create trigger account_quota_changed after update on account for each row
  when ((old.requests_per_day, old.requests_per_month) is distinct from (new.requests_per_day, new.requests_per_month))
  execute function account_quota_changed();
