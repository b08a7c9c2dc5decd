-- Returns the value that replaces the fingerprint of a request when its result has been erased.
create or replace function erased_fingerprint() returns bytea language sql immutable as $$
  select decode(repeat('00', 32), 'hex')
$$;
