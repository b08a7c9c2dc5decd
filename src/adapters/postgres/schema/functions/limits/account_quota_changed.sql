-- The trigger begins the count of a quota anew when an account gets one, in the transaction of the account: requests that passed
-- without a quota count, too. So replicas are told to add their counts before they confirm the change.
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
  return null;
end $$;
