-- This trigger writes the event for a new account. It touches no facts, because no replica can have cached an account
-- that did not exist.
create or replace function account_created() returns trigger language plpgsql as $$
declare
  is_parent constant boolean := new.parent_id is null;
begin
  perform event_add(
    coalesce(new.parent_id, new.id), array[case when is_parent then 'account.created' else 'sub_account.created' end],
    array[case when not is_parent then new.id end], array[account_shown(new)], array[null::jsonb]
  );
  if not is_parent then
    perform account_uncounted(new.parent_id);
  end if;
  return null;
end $$;
