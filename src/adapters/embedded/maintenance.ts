import type { Runner } from '../postgres/connection/pool.ts';

const checkpointEveryMs = 5 * 60_000;
const vacuumEvery = 12;

/**
 * Does what PostgreSQL's background processes do: PGlite has none, so its log would grow without end, old row
 * versions would stay, and the start after a kill would replay everything.
 */
export function startMaintenance(db: Runner): { stop(): void } {
  let rounds = 0;
  const timer = setInterval(() => {
    rounds += 1;
    // A round that fails is made up for by the next one.
    tidy(db, rounds % vacuumEvery === 0).catch(() => undefined);
  }, checkpointEveryMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

/** One round; `withVacuum` also clears old row versions and counts anew for the planner. */
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
