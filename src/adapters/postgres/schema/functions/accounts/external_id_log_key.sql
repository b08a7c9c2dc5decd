-- Returns the name of an account's external_id in the log, or null if the account has none. For a parent, the nil UUID
-- stands in for the parent id. No fact has such a name: logging it only makes a parent that takes over an external_id
-- wait until every replica has read that the former owner gave it up.
create or replace function external_id_log_key(a account) returns text language sql stable as $$
  select 'x:' || coalesce(a.parent_id, '00000000-0000-0000-0000-000000000000') || ':' || a.external_id
$$;
