import type { Runner } from '../postgres/connection/pool.ts';
import { systemTimers } from '../../ports/timers.ts';

const checkpointEveryMs = 5 * 60_000;
const vacuumEvery = 12;

/**
 * Does the work of PostgreSQL's background processes, which PGlite lacks. Otherwise the write-ahead log (WAL) would
 * grow without bound, dead row versions would accumulate, and the first start after a kill would replay the whole WAL.
 */
export function startMaintenance(db: Runner): { stop(): void } {
  let rounds = 0;
  const stop = systemTimers.every(checkpointEveryMs, () => {
    rounds += 1;
    // If a round fails, the next one makes up for it.
    tidy(db, rounds % vacuumEvery === 0).catch(() => undefined);
  });
  return { stop };
}

/**
 * Runs one round of maintenance: a checkpoint. If `withVacuum` is set, a vacuum runs first. It removes dead row
 * versions and updates the planner's statistics.
 */
export async function tidy(db: Runner, withVacuum: boolean): Promise<void> {
  if (withVacuum) {
    const tables = await db.run(
      (sql) => sql<{ readonly name: string }[]>`
        select tablename as name from pg_tables where schemaname = current_schema()`,
    );
    for (const { name } of tables) await db.run((sql) => sql`vacuum (analyze) ${sql(name)}`);
  }
  await db.run((sql) => sql`checkpoint`);
}
