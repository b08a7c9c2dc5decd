-- Suspends or resumes a parent, or deactivates or reactivates one of a parent's sub-accounts if `of_parent` is not null.
-- Updates the parent's count of active sub-accounts.
create or replace function account_set_status(
  request jsonb, of_parent uuid, of_id uuid, new_status text, out outcome text, out seq bigint, out account jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  made account;
  wrote boolean;
begin
  select b.outcome, b.made, b.seq into outcome, account, seq from change_begin(request) b;
  if outcome is not null then
    return;
  end if;
  if of_parent is null then
    perform change_fence(of_id);
  else
    perform from account a where a.id = of_parent for no key update;
  end if;
  select * into made from account a
    where a.id = of_id and a.parent_id is not distinct from of_parent for no key update;
  if not found or not account_is_there(of_id) then
    outcome := 'none';
    return;
  end if;
  wrote := made.status <> new_status;
  if wrote then
    update account a
      set status = new_status, updated_at = now(),
        deactivated_at = case when new_status = 'deactivated' then now() end
      where a.id = of_id returning * into made;
    update account a set active_sub_accounts = a.active_sub_accounts + case when new_status = 'active' then 1 else -1 end
      where a.id = of_parent;
  end if;
  outcome := 'done';
  account := account_shown(made);
  seq := change_end(request, account, wrote);
end $$;
