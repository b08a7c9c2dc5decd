-- Triggers keep events, facts, counts and quotas in sync with rows, whether a function or hand-written SQL changes them.

create trigger account_parent_on_insert before insert on account
  for each row when (new.parent_id is not null) execute function account_check_parent();
create trigger account_parent_on_update before update of parent_id on account
  for each row when (new.parent_id is distinct from old.parent_id) execute function account_check_parent();
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
create trigger account_quota_changed after update on account for each row
  when (
    (old.requests_per_day, old.requests_per_month, old.units_per_month, old.plan, old.unlimited)
      is distinct from (new.requests_per_day, new.requests_per_month, new.units_per_month, new.plan, new.unlimited)
  )
  execute function account_quota_changed();
create constraint trigger account_commit after insert or update or delete on account deferrable initially deferred
  for each row execute function change_commit();

create trigger api_key_created after insert on api_key referencing new table as made
  for each statement execute function api_key_created();
create trigger api_key_changed after update on api_key referencing old table as removed new table as made
  for each statement execute function api_key_changed();
create trigger api_key_deleted after delete on api_key referencing old table as removed
  for each statement execute function api_key_deleted();
create constraint trigger api_key_commit after insert or update or delete on api_key deferrable initially deferred
  for each row execute function change_commit();

create trigger plan_changed after insert or update or delete on plan for each row execute function plan_changed();
create constraint trigger plan_commit after insert or update or delete on plan deferrable initially deferred
  for each row execute function change_commit();

create trigger event_append_only before update or delete or truncate on event
  for each statement execute function event_append_only();

-- This trigger notes late changes to hourly usage. It is a row trigger with a condition, so it costs batches, which note
-- their late changes themselves, next to nothing. A transition table would get every row.
create trigger usage_hourly_changed after insert or update or delete on usage_hourly
  for each row when (current_setting('tenancy_gateway.usage_noted', true) is distinct from 'on')
  execute function usage_hourly_changed();
