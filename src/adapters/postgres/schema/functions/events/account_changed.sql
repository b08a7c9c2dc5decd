-- This trigger writes the event for a changed account and touches its facts. A change to a parent's counts gets no
-- event, because the change to the sub-account already has one. A deleted account is shown without its former values. The
-- erasure of its sub-accounts gets no events. A parent's portal sessions end with a suspension, and do not come back.
create or replace function account_changed() returns trigger language plpgsql as $$
declare
  is_parent constant boolean := new.parent_id is null;
  before constant jsonb := account_shown(old);
  after constant jsonb := account_shown(new);
  kind constant text := case when is_parent then 'account' else 'sub_account' end;
  is_deletion constant boolean := old.deleted_at is null and new.deleted_at is not null;
begin
  if (old.sub_accounts, old.active_sub_accounts) is not distinct from (new.sub_accounts, new.active_sub_accounts)
    and current_setting('tenancy_gateway.erasing', true) is distinct from 'on'
  then
    perform event_add(
      coalesce(new.parent_id, new.id),
      array[kind || '.' || case
        when is_deletion then 'deleted'
        when new.status = old.status then 'updated'
        when new.status <> 'active' then new.status
        when new.parent_id is null then 'resumed'
        else 'reactivated'
      end],
      array[case when new.parent_id is not null then new.id end],
      array[case when is_deletion then erased(after) else after end],
      array[case when not is_deletion then event_previous(before, after) end]
    );
  end if;
  perform change_touch(array_remove(array[
    case
      when old.status = 'active' and new.status <> 'active' or is_deletion then '-a:' || old.id
      when (
          old.id, old.parent_id, old.external_id, old.status, old.requests_per_second, old.burst, old.requests_per_minute,
          old.requests_per_day, old.requests_per_month, old.units_per_month, old.plan, old.unlimited, old.deleted_at
        ) is distinct from (
          new.id, new.parent_id, new.external_id, new.status, new.requests_per_second, new.burst, new.requests_per_minute,
          new.requests_per_day, new.requests_per_month, new.units_per_month, new.plan, new.unlimited, new.deleted_at
        )
        then '+a:' || old.id
    end,
    case when old.external_id is distinct from new.external_id then '+' || external_id_log_key(old) end,
    case when old.external_id is distinct from new.external_id then '+' || external_id_log_key(new) end,
    case when (old.active_sub_accounts = 0) is distinct from (new.active_sub_accounts = 0) then '+n:' || old.id end
  ], null));
  if is_parent and old.status = 'active' and new.status <> 'active' then
    delete from portal_session s where s.account_id = new.id;
  end if;
  if new.parent_id is not null and old.status <> new.status then
    perform account_uncounted(new.parent_id);
  end if;
  return null;
end $$;
