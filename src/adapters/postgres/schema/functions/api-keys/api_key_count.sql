-- Returns the number of an account's keys that count towards its limit: the active ones. A revoked or expired key never
-- becomes active again.
create or replace function api_key_count(of_account uuid) returns bigint language sql stable as $$
  select count(*) from api_key k
  where k.account_id = of_account and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
$$;
