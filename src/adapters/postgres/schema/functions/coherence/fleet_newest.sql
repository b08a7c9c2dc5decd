-- Returns the highest level that a version which knows these functions can have. Raised together with `level` in
-- `coherence-log.ts` if a version can enforce what the one before cannot.
create or replace function fleet_newest() returns int language sql immutable as $$
  select 1
$$;
