import type { Logger } from '../ops/logger.ts';
import type { Unreadiness } from '../ops/health.ts';
import type { Clock } from '../ports/clock.ts';
import type { Timers } from '../ports/timers.ts';
import { SchemaMismatch } from '../adapters/postgres/migrate.ts';
import type { Store } from './store.ts';

export interface BringUpParts {
  readonly store: Pick<Store, 'migrate' | 'ping'>;
  /** Run migrations, rather than wait for somebody to do it. */
  readonly migrate: boolean;
  readonly timers: Timers;
  readonly clock: Clock;
  readonly logger: Logger;
  /** What can begin once the store is there with the right tables. May fail, and is then called again. */
  readonly begin: () => Promise<void>;
}

export interface BringUp {
  /** What is still missing; `null` once everything has begun. */
  missing(): Unreadiness | null;
  /** Resolves when everything has begun, or after {@link BringUp.stop}. */
  readonly done: Promise<void>;
  stop(): void;
}

const firstRetryMs = 250;
const longestRetryMs = 5_000;
const sayAgainMs = 30_000;

/**
 * Waits for the store and its tables, for as long as it takes: a gateway that starts before its database is a gateway
 * that is not ready yet, not one that has failed.
 */
export function bringUp({ store, migrate, timers, clock, logger, begin }: BringUpParts): BringUp {
  let missing: Unreadiness | null = { reason: 'starting', detail: 'The store has not answered yet.' };
  let stopped = false;
  let callOff = (): void => undefined;
  let said = { what: '', atMs: -Infinity };
  let finish = (): void => undefined;
  const done = new Promise<void>((resolve) => {
    finish = resolve;
  });

  async function attempt(retryMs: number): Promise<void> {
    try {
      if (migrate) await store.migrate((step) => logger.info({ step }, 'migrating the database'));
      else await store.ping();
      if (stopped) return;
      await begin();
      missing = null;
      finish();
    } catch (error) {
      missing = reasonFor(error);
      say(missing, error);
      if (stopped) return;
      callOff = timers.after(retryMs, () => void attempt(Math.min(retryMs * 2, longestRetryMs)));
    }
  }

  /** Once per reason and half minute: a database that is away for an hour needs no thousand lines. */
  function say({ reason, detail }: Unreadiness, error: unknown): void {
    const nowMs = clock.monotonicMs();
    if (said.what === reason && nowMs - said.atMs < sayAgainMs) return;
    said = { what: reason, atMs: nowMs };
    logger.warn({ err: error, reason }, `not ready: ${detail}`);
  }

  void attempt(firstRetryMs);
  return {
    missing: () => missing,
    done,
    stop: () => {
      stopped = true;
      callOff();
      finish();
    },
  };
}

function reasonFor(error: unknown): Unreadiness {
  return error instanceof SchemaMismatch
    ? {
        reason: 'migrations_pending',
        detail: 'The database and this version do not go together; the log says why.',
      }
    : { reason: 'starting', detail: 'The store cannot be reached yet.' };
}
