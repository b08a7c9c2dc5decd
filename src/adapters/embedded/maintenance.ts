import type { Runner } from '../postgres/pool.ts';

const checkpointEveryMs = 5 * 60_000;
const vacuumEvery = 12;

/**
 * Does what PostgreSQL's background processes do: PGlite has none, so its log would grow without end, old row
 * versions would stay, and the start after a kill would replay everything.
 */
export function keepTidy(db: Runner): { stop(): void } {
  let rounds = 0;
  const timer = setInterval(() => {
    rounds += 1;
    void tidy(db, rounds % vacuumEvery === 0);
  }, checkpointEveryMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

/** What does not work out now will the next time. */
async function tidy(db: Runner, withVacuum: boolean): Promise<void> {
  try {
    if (withVacuum) {
      await db.run(
        (sql) => sql`vacuum (analyze) account, api_key, usage_hourly, usage_batch, coherence_log, replica`,
      );
    }
    await db.run((sql) => sql`checkpoint`);
  } catch {
    return;
  }
}
