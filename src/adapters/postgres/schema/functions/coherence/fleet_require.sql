-- Fails if a replica of a level below `needed` is registered, with TG001 and the versions of such replicas. A change
-- that only replicas of level `needed` and above can enforce calls this in its transaction, before it locks anything.
--
-- Registrations of a lower level take the same lock shared (`fleet_admit`). So this function sees every registration
-- that was committed earlier, and a later registration sees the new level and fails. Only the first such change takes
-- the lock, because after it no replica of a lower level can register.
create or replace function fleet_require(needed int) returns void language plpgsql as $$
declare
  versions text;
begin
  if needed <= (select f.level from fleet f) then
    return;
  end if;
  perform pg_advisory_xact_lock(7311970453);
  select string_agg(distinct coalesce(r.version, 'before 0.1.0'), ', ') into versions
    from replica r where replica_level(r.nonce) < needed;
  if versions is not null then
    raise exception using errcode = 'TG001', message = 'replicas are registered that cannot enforce this change',
      detail = versions;
  end if;
  update fleet f set level = needed where f.level < needed;
end $$;
