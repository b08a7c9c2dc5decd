-- The number of the protocol that the replica with this nonce speaks; 1 where it gives none.
create or replace function replica_level(nonce text) returns int language sql immutable as $$
  select coalesce(substring(nonce from '^([0-9]{1,6}):')::int, 1)
$$;
