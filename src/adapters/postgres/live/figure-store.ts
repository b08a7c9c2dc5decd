import type { FigureStore } from '../../../ports/replica-figures.ts';
import type { OpenTail } from '../../../ports/tails.ts';
import type { Runner } from '../connection/pool.ts';

/** Figures of replicas in PostgreSQL. */
export function figureStore(db: Runner): FigureStore {
  return {
    async report(replica, figures, prune) {
      const [{ tails }] = await db.run(
        (sql) => sql<[{ readonly tails: readonly OpenTail[] }]>`
          with pruned as (
            delete from replica_figures where ${prune} and replica in (
              select replica from replica_figures
              where reported_at < now() - interval '1 minute' and replica <> ${replica} for update skip locked
            )
          ), ended as (
            delete from tail where ${prune} and id in (
              select id from tail where expires_at < now() for update skip locked
            )
          ), reported as (
            insert into replica_figures (replica, reported_at, figures) values (${replica}, now(), ${sql.json({ ...figures })})
            on conflict (replica) do update set reported_at = excluded.reported_at, figures = excluded.figures
          )
          select coalesce(json_agg(json_build_object('id', id, 'filter', filter)), '[]') as tails
          from tail where expires_at > now()`,
      );
      return tails;
    },

    async remove(replica) {
      await db.run((sql) => sql`delete from replica_figures where replica = ${replica}`);
    },
  };
}
