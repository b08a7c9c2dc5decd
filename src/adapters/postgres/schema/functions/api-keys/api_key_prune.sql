-- Deletes up to `most` keys that ended before `before`, and returns how many were deleted. Their usage stays, under their
-- ids. Whoever still uses such a key is told that it is unknown.
create or replace function api_key_prune(before timestamptz, most int) returns int language plpgsql as $$
declare
  deleted int;
begin
  delete from api_key where id = any (array(
    select k.id from api_key k
    where least(k.revoked_at, k.expires_at) < before order by least(k.revoked_at, k.expires_at) limit most for update skip locked
  ));
  get diagnostics deleted = row_count;
  return deleted;
end $$;
