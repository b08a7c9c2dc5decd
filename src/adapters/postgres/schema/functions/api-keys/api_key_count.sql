-- Returns the number of an account's active keys. Only active keys count towards the account's maximum, because revoked
-- and expired keys never become active again.
create or replace function api_key_count(of_account uuid) returns bigint language sql stable as $$
  select count(*) from api_key k
  where k.account_id = of_account and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
$$;
