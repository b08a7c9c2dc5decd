-- Returns a description of where this database lives: cluster, timeline, database and table. A promotion or a restore
-- from a backup changes the timeline, a copy in the same cluster is a different database, and a database that was
-- dropped and restored has a different table. The description is not unique: two promotions may yield the same one, and
-- a copy of the data directory has the same one as the original.
--
-- The timeline is that of the write position, because the control file learns of a new one late. A hosting service may
-- not let functions read the write position; there, it is the control file's.
create or replace function coherence_place() returns text language plpgsql stable as $$
declare
  timeline text;
begin
  if (select s.reads_wal from coherence_seq s) then
    timeline := left(pg_walfile_name(pg_current_wal_lsn()), 8);
  else
    timeline := (select c.timeline_id from pg_control_checkpoint() c);
  end if;
  return (
    select concat_ws(
      '-', (select c.system_identifier from pg_control_system() c), timeline,
      (select d.oid from pg_database d where d.datname = current_database()), s.tableoid
    ) from coherence_seq s
  );
end $$;
