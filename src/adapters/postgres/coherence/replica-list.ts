import type { ReplicaFigures } from '../../../ports/replica-figures.ts';
import type { ListedReplica, ReplicaList, ReplicaListReading } from '../../../ports/replica-list.ts';
import type { Runner } from '../connection/pool.ts';

/** A replica's row. `figures` has no type for the time, because it is in JSON. */
interface Row extends Omit<ListedReplica, 'figures'> {
  readonly figures: (ReplicaFigures & { readonly reportedAtMs: number }) | null;
}

/** Reads the replicas' rows for operators. */
export function replicaList(db: Runner): ReplicaList {
  return {
    async read() {
      const [reading] = await db.run(
        (sql) => sql<[Omit<ReplicaListReading, 'entries'> & { readonly entries: readonly Row[] }]>`
          select s.seq, i.incarnation, i.incarnation = s.adopted as complete, coalesce((
            select json_agg(json_build_object(
              'id', r.id, 'leaseMs', r.lease_ms, 'applied', r.acked, 'version', r.version, 'host', r.host,
              'leaving', r.leaving, 'clockAheadMs', r.clock_ahead_ms,
              'figures', (
                select f.figures || jsonb_build_object('reportedAtMs', extract(epoch from f.reported_at) * 1000)
                from replica_figures f where f.replica = r.id and f.reported_at > now() - interval '1 minute'
              ),
              'ageMs', greatest(0, round(extract(epoch from clock_timestamp() - r.renewed_at) * 1000))
            ) order by r.host, r.id) from replica r
          ), '[]') as entries
          from coherence_now s, coherence_history() i (incarnation)`,
      );
      return { ...reading, entries: reading.entries.map(toListed) };
    },
  };
}

function toListed({ figures, ...row }: Row): ListedReplica {
  return { ...row, figures: figures && { ...figures, reportedAt: new Date(figures.reportedAtMs) } };
}
