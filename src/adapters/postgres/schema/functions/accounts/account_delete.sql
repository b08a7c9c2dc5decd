-- Deletes a parent and everything under it, or one of a parent's sub-accounts if `of_parent` is not null. `outcome` is
-- 'active' if a parent is not suspended, or a sub-account is not deactivated. `outcome` is 'gone' if the account was
-- deleted earlier; `seq` is then the newest position, so the caller waits for replicas as it would after the first
-- deletion.
--
-- Only the account's own row is changed, however many sub-accounts and keys it has: replicas reject all of them by the
-- fact of the deleted account, and changes reject them by `account_is_there`. `erasure_run` revokes the keys and erases
-- the other rows later. The row's own name, metadata and external_id are erased here.
create or replace function account_delete(
  request jsonb, of_parent uuid, of_id uuid, out outcome text, out seq bigint
) language plpgsql as $$
#variable_conflict use_column
declare
  old account;
begin
  select b.outcome into outcome from change_begin(request) b;
  if outcome is not null then
    return;
  end if;
  if of_parent is null then
    perform change_fence(of_id);
  else
    perform from account a where a.id = of_parent and a.deleted_at is null for no key update;
    if not found then
      outcome := 'none';
      return;
    end if;
  end if;
  select * into old from account a
    where a.id = of_id and a.parent_id is not distinct from of_parent for no key update;
  if not found then
    outcome := 'none';
    return;
  end if;
  if old.deleted_at is not null then
    outcome := 'gone';
    seq := coherence_position();
    return;
  end if;
  if old.status = 'active' then
    outcome := 'active';
    return;
  end if;

  update account a
    set name = erased_name(), external_id = null, metadata = '{}', plan = null, updated_at = now(), deleted_at = now()
    where a.id = of_id;
  update account a set sub_accounts = a.sub_accounts - 1 where a.id = of_parent;
  insert into erasure (account_id, parent_id, deleted_at) values (of_id, of_parent, now());
  outcome := 'done';
  seq := change_end(request, null, true);
end $$;
