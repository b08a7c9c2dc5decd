-- Fails if replicas of level `own` may no longer register. `replica_renew` calls this if it has
-- written a new row.
create or replace function fleet_admit(own int) returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(7311970453);
  if own < (select f.level from fleet f) then
    raise exception using errcode = 'TG002',
      message = 'this version cannot enforce what a newer one has stored (docs/operating.md, Upgrade and roll back)';
  end if;
end $$;
