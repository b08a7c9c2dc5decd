-- Returns the place of this database: cluster, timeline, database and table. A promotion and a restore from a backup
-- have another timeline, a copy in the same cluster has another database, and one that was dropped and restored
-- another table. Two promotions may have the same place, and so has a copy of the data directory. The incarnation of
-- 0.1.0 ends with a UUID, which is left out.
create or replace function coherence_place() returns text language sql stable as $$
  select concat_ws(
    '-', left(coherence_incarnation(), -37), (select d.oid from pg_database d where d.datname = current_database()), s.tableoid
  ) from coherence_seq s
$$;
