-- Returns a description of where this database lives: cluster, timeline, database and table. A promotion or a restore
-- from a backup changes the timeline, a copy in the same cluster is a different database, and a database that was
-- dropped and restored has a different table. The description is not unique: two promotions may yield the same one, and
-- a copy of the data directory has the same one as the original. The description starts with the incarnation that 0.1.0
-- reads, without the UUID at its end.
create or replace function coherence_place() returns text language plpgsql stable as $$
begin
  return (
    select concat_ws(
      '-', left(coherence_incarnation(), -37), (select d.oid from pg_database d where d.datname = current_database()), s.tableoid
    ) from coherence_seq s
  );
end $$;
