-- Returns the `key` under which `coherence_log` has an account's external_id, or null if the account has none. The key
-- contains the id of the account's parent; for a parent account, it contains the nil UUID.
--
-- A parent's external_id is not a fact, but it is logged. So a change that gives the external_id to another parent
-- waits until every replica has read that the former owner gave it up.
create or replace function external_id_log_key(a account) returns text language sql stable as $$
  select 'x:' || coalesce(a.parent_id, '00000000-0000-0000-0000-000000000000') || ':' || a.external_id
$$;
