-- The name in the log of the external_id of an account; null if it has none. That of a parent is as that of a sub-account,
-- with no parent. No fact goes by it; a parent that takes over an external_id waits until every replica has heard that the
-- one before gave it up.
create or replace function external_id_log_key(a account) returns text language sql stable as $$
  select 'x:' || coalesce(a.parent_id, '00000000-0000-0000-0000-000000000000') || ':' || a.external_id
$$;
