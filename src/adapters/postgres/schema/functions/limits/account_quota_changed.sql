-- This trigger runs when a quota of an account changes. If the account gets a quota, the trigger deletes the quota's
-- windows (`quota_forget`), so that the next `quota_ask` counts the current window from stored usage. The trigger also
-- touches a fact named `q:` and the account's id. A replica that reads the fact's log entry adds its pending counts to
-- the store before it confirms the entry. If only the size of a quota changes, the trigger lets the quota's events be
-- written again.
create or replace function account_quota_changed() returns trigger language plpgsql as $$
declare
  account constant text := case when new.parent_id is null then 'parent:' else 'sub_account:' end || new.id;
begin
  if old.requests_per_day is null and new.requests_per_day is not null then
    perform quota_forget(account || ':day');
    perform change_touch(array['+q:' || new.id]);
  end if;
  if old.requests_per_month is null and new.requests_per_month is not null then
    perform quota_forget(account || ':month');
    perform change_touch(array['+q:' || new.id]);
  end if;
  update limit_quota q set noted = 0
    where q.noted > 0 and q.limit_name = any (array_remove(array[
      case when old.requests_per_day <> new.requests_per_day then account || ':day' end,
      case when old.requests_per_month <> new.requests_per_month then account || ':month' end
    ], null));
  return null;
end $$;
