-- Returns the place of this database: cluster, timeline, database and table. A promotion or a restore from a backup
-- changes the timeline, a copy in the same cluster is another database, and a database that was dropped and restored
-- has another table. Two promotions may lead to the same place, and a copy of the data directory has the place of its
-- original. The place includes the incarnation of 0.1.0 without the UUID at its end.
create or replace function coherence_place() returns text language plpgsql stable as $$
begin
  return (
    select concat_ws(
      '-', left(coherence_incarnation(), -37), (select d.oid from pg_database d where d.datname = current_database()), s.tableoid
    ) from coherence_seq s
  );
end $$;
