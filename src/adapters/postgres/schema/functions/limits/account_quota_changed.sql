-- This trigger runs when a quota of an account may have changed, or its plan. If the account gets a quota, the trigger
-- deletes the quota's windows (`quotas_changed`), so that the next `quota_ask` counts the current window from stored
-- usage. The trigger also touches a fact named `q:` and the quota's name. A replica that reads the fact's log entry
-- adds its pending counts to the store, and to the quota (`quota_catch_up`), before it confirms the entry. If only the size of a quota changes, the trigger
-- lets the quota's events be written again.
create or replace function account_quota_changed() returns trigger language plpgsql as $$
declare
  account constant text := case when new.parent_id is null then 'parent:' else 'sub_account:' end || new.id;
  begun text[] := '{}';
  resized text[] := '{}';
  quota_name text;
  before bigint;
  after bigint;
begin
  foreach quota_name in array array['day', 'month', 'month:units'] loop
    quota_name := account || ':' || quota_name;
    before := account_quota(old, quota_column(quota_name));
    after := account_quota(new, quota_column(quota_name));
    if before is null and after is not null then
      begun := begun || quota_name;
    elsif before <> after then
      resized := resized || quota_name;
    end if;
  end loop;
  perform quotas_changed(begun, resized);
  perform change_touch(array(select '+q:' || b from unnest(begun) b));
  return null;
end $$;
