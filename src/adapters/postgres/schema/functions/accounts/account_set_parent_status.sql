-- Suspends or resumes a parent.
create or replace function account_set_parent_status(
  request jsonb, of_id uuid, new_status text, out outcome text, out seq bigint, out account jsonb
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
  perform change_fence(of_id);
  select * into made from account a where a.id = of_id and a.parent_id is null and a.deleted_at is null for no key update;
  if not found then
    outcome := 'none';
    return;
  end if;
  wrote := made.status <> new_status;
  if wrote then
    update account a set status = new_status, updated_at = now() where a.id = of_id returning * into made;
  end if;
  outcome := 'done';
  account := account_shown(made);
  seq := change_end(request, account, wrote);
end $$;
