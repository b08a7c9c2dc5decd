import type { Command } from 'commander';
import { storeCause } from '../adapters/postgres/connection/causes.ts';
import { mismatchIn, UnusableDatabase } from '../adapters/postgres/schema/applied.ts';
import { openPostgres, type Store } from '../adapters/postgres/store.ts';
import { leaseWaitMs } from '../coherence/timing.ts';
import type { CoherenceConfig } from '../config.ts';
import { reachMs } from '../ports/coherence-log.ts';
import { pause } from '../ports/timers.ts';
import type { Context } from './context.ts';
import { exitCode, Failure } from './failure.ts';
import { commandConfig } from './target.ts';

/** `restored`: prepares the database after a backup has been restored into it. */
export function restoredCommand(program: Command, context: Context): void {
  program
    .command('restored')
    .description('make every gateway forget its facts, after a backup was restored into DATABASE_URL')
    .action(async () => {
      const config = commandConfig(context.env);
      if (config.store.kind === 'embedded') {
        throw new Failure(
          exitCode.usage,
          'DATABASE_URL is not set.',
          'The embedded store needs no command: no other process uses it.',
        );
      }
      const store = openPostgres(config.store);
      try {
        await refuseUnusable(store);
        await store.markRestored();
        const waitedMs = await waitForLeases(store, config.coherence, (text) => context.output().note(text));
        await store.ping();
        const { incarnation } = await store.log.replicas();
        context
          .output()
          .result({ incarnation, waited_ms: waitedMs }, () =>
            [
              'Done: from here on every gateway decides by the restored database alone.',
              '`tenancy-gateway replicas` shows which ones are back.',
            ].join('\n'),
          );
      } catch (error) {
        throw explain(error);
      } finally {
        await store.close();
      }
    });
}

/**
 * Waits until every lease granted before the restore has ended, and its streams. Leases granted after the backup are
 * missing from the restored rows. The wait therefore covers the longest lease in any row or in this configuration, plus
 * a margin for clocks that drift.
 *
 * @returns milliseconds waited
 */
async function waitForLeases(
  store: Pick<Store, 'log'>,
  configured: CoherenceConfig,
  note: (text: string) => void,
): Promise<number> {
  const { rows } = await store.log.replicas();
  const longestMs = Math.max(...[configured, ...rows].map(reachMs));
  const waitMs = Math.ceil(leaseWaitMs(longestMs));
  note(`Marked. Waiting ${(waitMs / 1000).toFixed(1)} s, until every lease from before has run out …`);
  // A timer may fire slightly early, so the loop waits out any remaining time.
  const until = performance.now() + waitMs;
  for (let left = waitMs; left > 0; left = until - performance.now()) await pause(Math.ceil(left));
  return waitMs;
}

/** Keeps a database of another version or build unmarked. Other faults may end with the restore, and are told later. */
async function refuseUnusable(store: Pick<Store, 'ping'>): Promise<void> {
  const error: unknown = await store.ping().catch((error: unknown) => error);
  const mismatch = mismatchIn(error);
  if (mismatch instanceof UnusableDatabase) throw new Failure(exitCode.badConfiguration, mismatch.message);
}

function explain(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const mismatch = mismatchIn(error);
  if (mismatch !== undefined) {
    return new Failure(
      exitCode.failed,
      `The database is marked, but not one this version can work on: ${mismatch.message}.`,
      'If the backup is from an earlier version, run `tenancy-gateway migrate`, and then this again.',
    );
  }
  const known = storeCause(error);
  if (known !== undefined) {
    const { code: reason, cause, remedy } = known;
    const hint = `${remedy} Run this again before you rely on the database.`;
    return new Failure(exitCode.unreachable, `${cause} (${reason}).`, hint, { reason });
  }
  const { code, message } = ((error as Error).cause ?? error) as {
    readonly code?: string;
    readonly message?: string;
  };
  const reason = code ?? message;
  return new Failure(
    exitCode.unreachable,
    `The database cannot be marked as restored (${String(reason)}).`,
    'Does DATABASE_URL name the restored database, and is the restore complete? Run this again before you rely on it.',
    { reason },
  );
}
