import type { ReplicaList, ReplicaListReading } from '../../../ports/replica-list.ts';
import type { Runner } from '../connection/pool.ts';

/** Reads the replicas' rows for operators. */
export function replicaList(db: Runner): ReplicaList {
  return {
    async read() {
      const [reading] = await db.run(
        (sql) => sql<[ReplicaListReading]>`
          select s.seq, i.incarnation, i.incarnation = (select history from coherence_adopted) as complete, coalesce((
            select json_agg(json_build_object(
              'id', r.id, 'leaseMs', r.lease_ms, 'applied', r.acked, 'version', r.version, 'host', r.host,
              'leaving', r.leaving, 'clockAheadMs', (select c.ahead_ms from replica_clock c where c.id = r.id),
              'ageMs', greatest(0, round(extract(epoch from clock_timestamp() - r.renewed_at) * 1000))
            ) order by r.host, r.id) from replica r
          ), '[]') as entries
          from coherence_now s, coherence_history() i (incarnation)`,
      );
      return reading;
    },
  };
}
