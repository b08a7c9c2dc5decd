-- The trigger writes a changed quota to the row of its month, in the transaction of the account: a replica that hears
-- of the change and then reads the row gets the use of the new quota.
create or replace function account_quota_changed() returns trigger language plpgsql as $$
begin
  perform limit_month_change(
    case when new.parent_id is null then 'parent:' else 'sub_account:' end || new.id, new.requests_per_month
  );
  return null;
end $$;
