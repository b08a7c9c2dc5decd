-- Renews the lease of a replica of 0.2.0, which has level 2.
create or replace function replica_renew(
  new_id text, new_nonce text, new_lease_ms int, new_version text, new_host text, is_leaving boolean, clock_ahead_ms bigint
) returns void language sql volatile as $$
  select replica_renew(new_id, new_nonce, new_lease_ms, new_version, new_host, is_leaving, clock_ahead_ms, 2)
$$;
