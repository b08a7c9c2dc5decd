-- compatible with: 6
-- locks for a moment: account
-- Triggers keep lists and quotas in sync with the plans of accounts.

create trigger account_plan_on_insert after insert on account for each row
  when (new.plan is not null) execute function account_plan_index();
create trigger account_plan_on_delete after delete on account for each row
  when (old.plan is not null) execute function account_plan_index();
create trigger account_plan_on_update after update of plan on account for each row
  when (new.plan is distinct from old.plan) execute function account_plan_index();

drop trigger account_quota_changed on account;
create trigger account_quota_changed after update on account for each row
  when (
    (old.requests_per_day, old.requests_per_month, old.units_per_month, old.plan, old.unlimited)
      is distinct from (new.requests_per_day, new.requests_per_month, new.units_per_month, new.plan, new.unlimited)
  )
  execute function account_quota_changed();
