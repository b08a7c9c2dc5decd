import type { FigureStore } from '../../../ports/replica-figures.ts';
import type { Runner } from '../connection/pool.ts';

/** Figures of replicas in PostgreSQL. */
export function figureStore(db: Runner): FigureStore {
  return {
    async report(replica, figures, prune) {
      await db.run(
        (sql) => sql`
          with pruned as (
            delete from replica_figures where ${prune} and replica in (
              select replica from replica_figures
              where reported_at < now() - interval '1 minute' and replica <> ${replica} for update skip locked
            )
          )
          insert into replica_figures (replica, reported_at, figures) values (${replica}, now(), ${sql.json({ ...figures })})
          on conflict (replica) do update set reported_at = excluded.reported_at, figures = excluded.figures`,
      );
    },

    async remove(replica) {
      await db.run((sql) => sql`delete from replica_figures where replica = ${replica}`);
    },
  };
}
