-- How many keys of an account count towards its limit: those that can be used. Revoked and expired ones stay what they are.
create or replace function api_key_count(of_account uuid) returns bigint language sql stable as $$
  select count(*) from api_key k
  where k.account_id = of_account and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
$$;
