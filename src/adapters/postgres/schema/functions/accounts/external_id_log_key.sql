-- Returns the key in the log for the external_id of an account; null if it has none. The key for a parent has the nil
-- UUID in the place of the parent's id. No fact has such a key: it only makes a parent that takes over an external_id
-- wait until every replica has read that the former owner gave it up.
create or replace function external_id_log_key(a account) returns text language sql stable as $$
  select 'x:' || coalesce(a.parent_id, '00000000-0000-0000-0000-000000000000') || ':' || a.external_id
$$;
