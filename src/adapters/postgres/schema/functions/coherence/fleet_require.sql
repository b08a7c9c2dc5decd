-- Fails with TG001 if any replica below level `needed` is registered; the error's detail lists the versions of such
-- replicas. If a change can be enforced only by replicas of level `needed` and above, its transaction calls this before
-- it locks anything.
--
-- Replicas of lower levels register under the same lock, in shared mode (`fleet_admit`). So this function sees every
-- registration committed earlier, and a later registration sees the new level and fails. Once one call has stored the
-- new level, later calls need no lock, because no replica of a lower level can register any more.
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
