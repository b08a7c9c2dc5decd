-- Returns a description of where this database lives: cluster, timeline, database and table. A promotion or a restore
-- from a backup changes the timeline, a copy in the same cluster is a different database, and a database that was
-- dropped and restored has a different table. The description is not unique: two promotions may yield the same one, and
-- a copy of the data directory has the same one as the original.
create or replace function coherence_place() returns text language plpgsql stable as $$
begin
  return (
    select concat_ws(
      '-', coherence_cluster(), (select d.oid from pg_database d where d.datname = current_database()), s.tableoid
    ) from coherence_seq s
  );
end $$;
