-- Returns the name in the log for the external_id of an account; null if the account has none. In the name for a
-- parent, the nil UUID takes the place of the parent's id. No fact has such a name. It only makes a parent that takes
-- over an external_id wait until every replica has read that the former owner gave it up.
create or replace function external_id_log_key(a account) returns text language sql stable as $$
  select 'x:' || coalesce(a.parent_id, '00000000-0000-0000-0000-000000000000') || ':' || a.external_id
$$;
