-- Adds `made` new active sub-accounts to a parent's counts.
create or replace function import_count(of_parent uuid, made int) returns void language sql volatile as $$
  update account a set sub_accounts = a.sub_accounts + made, active_sub_accounts = a.active_sub_accounts + made
    where a.id = of_parent and made > 0
$$;
