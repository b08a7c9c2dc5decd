-- Fails with TG001 if any replica below level `needed` is registered; the error's detail lists the versions of such
-- replicas. If a change can be enforced only by replicas of level `needed` and above, its transaction calls this before
-- it locks anything.
--
-- Replicas register under the same lock, in shared mode (`fleet_admit`). So this function sees every
-- registration committed earlier, and a later registration sees the new level and fails. Once one call has stored the
-- new level, later calls need no lock, because no replica of a lower level can register any more.
create or replace function fleet_require(needed int) returns void language plpgsql as $$
begin
  if needed <= (select f.level from fleet f) then
    return;
  end if;
  perform pg_advisory_xact_lock(7311970453);
  perform fleet_check(needed);
  update fleet f set level = needed where f.level < needed;
end $$;
