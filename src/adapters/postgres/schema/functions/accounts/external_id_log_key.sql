-- Returns the key in the log for the external_id of an account; null if it has none. A parent's key has no parent in
-- it. No fact has such a key; it makes a parent that takes over an external_id wait until every replica has heard
-- that the former owner gave it up.
create or replace function external_id_log_key(a account) returns text language sql stable as $$
  select 'x:' || coalesce(a.parent_id, '00000000-0000-0000-0000-000000000000') || ':' || a.external_id
$$;
