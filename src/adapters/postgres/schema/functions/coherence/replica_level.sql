-- Returns the protocol level of the replica with this nonce; 1 if the nonce contains no level.
create or replace function replica_level(nonce text) returns int language sql immutable as $$
  select coalesce(substring(nonce from '^([0-9]{1,6}):')::int, 1)
$$;
