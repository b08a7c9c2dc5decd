-- This trigger touches the facts of deleted keys.
create or replace function api_key_deleted() returns trigger language plpgsql as $$
begin
  perform change_touch(array(select '-' || api_key_log_key(r.digest) from removed r));
  return null;
end $$;
