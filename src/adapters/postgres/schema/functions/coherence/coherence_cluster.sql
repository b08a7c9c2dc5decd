-- Returns the cluster's system identifier and timeline. `coherence_incarnation` starts with the same two values, but
-- PostgreSQL plans that SQL function in every call, which takes half the time of a reading of the log. This function is
-- PL/pgSQL, so each session caches its plan.
--
-- A hosting service may not let functions read the write position. There, `0002_coherence` made `coherence_incarnation`
-- take the timeline from the control file, and this function does the same.
create or replace function coherence_cluster() returns text language plpgsql stable as $$
declare
  cluster constant bigint := (select system_identifier from pg_control_system());
begin
  if (select p.prosrc like '%pg_current_wal_lsn%' from pg_proc p where p.oid = 'coherence_incarnation'::regproc) then
    return concat_ws('-', cluster, left(pg_walfile_name(pg_current_wal_lsn()), 8));
  end if;
  return concat_ws('-', cluster, (select timeline_id from pg_control_checkpoint()));
end $$;
