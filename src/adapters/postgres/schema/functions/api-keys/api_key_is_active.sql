-- Returns whether a key can be used now, by the database server's clock.
create or replace function api_key_is_active(k api_key) returns boolean language sql volatile as $$
  select k.revoked_at is null and (k.expires_at is null or k.expires_at > clock_timestamp())
$$;
