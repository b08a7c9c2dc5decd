import type { Logger } from '../ops/logger.ts';
import type { Unreadiness } from '../ops/health.ts';
import type { Clock } from '../ports/clock.ts';
import type { Timers } from '../ports/timers.ts';
import { sayCause, storeCause } from '../adapters/postgres/connection/causes.ts';
import { mismatchIn, UnusableDatabase } from '../adapters/postgres/schema/applied.ts';
import type { MigrationEvents, MigrationWait } from '../adapters/postgres/schema/migrate.ts';
import { Backoff } from '../timing/backoff.ts';
import { KeyPrefixTaken } from './key-prefix.ts';
import type { Store } from './store.ts';

export interface BringUpParts {
  readonly store: Pick<Store, 'migrate' | 'ping'>;
  /** Whether to run migrations. Otherwise the gateway waits until another process has run them. */
  readonly migrate: boolean;
  /**
   * `true` if only this process can open and migrate the store. The first failure is then final, and the start fails.
   */
  readonly alone: boolean;
  readonly timers: Timers;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Starts the parts that need the store and its tables. Called again after a failure. */
  readonly begin: () => Promise<void>;
}

export interface BringUp {
  /** Starts connecting to the store. */
  start(): void;
  /** Returns the reason why the process is not ready; `null` once everything has started. */
  missing(): Unreadiness | null;
  /** Resolves when everything has started, or after {@link BringUp.stop}; rejects if retrying is pointless. */
  readonly done: Promise<void>;
  stop(): void;
}

const firstRetryMs = 250;
const longestRetryMs = 5_000;
const sayAgainMs = 30_000;

/**
 * Waits for the store and its tables without a time limit. The gateway may start before its database: it is not ready
 * until the database answers, but it does not fail.
 */
export function bringUp({ store, migrate, alone, timers, clock, logger, begin }: BringUpParts): BringUp {
  let missing: Unreadiness | null = { reason: 'starting', detail: 'The store has not answered yet.' };
  const retries = new Backoff(firstRetryMs, longestRetryMs);
  let stopped = false;
  let callOff = (): void => undefined;
  let said = { what: '', level: 'info', atMs: -Infinity };
  const { promise: done, resolve: finish, reject: giveUp } = promiseWithResolvers();

  async function attempt(): Promise<void> {
    try {
      await prepare({ store, migrate, logger }, { onStep, onWait });
      if (stopped) return;
      await begin();
      missing = null;
      finish();
    } catch (error) {
      missing = reasonFor(error);
      if (stopped) return;
      if (alone || isFinal(error)) return giveUp(mismatchIn(error) ?? error);
      sayWhyNot(missing, error);
      callOff = timers.after(retries.failed(), () => void attempt());
    }
  }

  const onStep = (step: string): void => logger.info({ step }, 'migrated the database');

  /**
   * Reports that a migration is waiting. Logs a warning if the migration waits for a lock, such as one that a replica
   * of the previous version holds. Logs at `info` if another process is migrating the database, which is normal.
   */
  function onWait({ step, waitsFor, elsewhere }: MigrationWait): void {
    missing = {
      reason: 'migrations_pending',
      detail: `Migration ${step} has to wait; the log names the cause.`,
    };
    say(
      `migration ${step}`,
      { step, waitsFor, reason: missing.reason },
      'not ready: a migration has to wait',
      elsewhere ? 'info' : 'warn',
    );
  }

  function sayWhyNot({ reason, detail }: Unreadiness, error: unknown): void {
    // For a schema mismatch only the message is logged, because a stack trace would bury it.
    const mismatch = mismatchIn(error);
    const cause = storeCause(error);
    if (mismatch !== undefined) say(reason, { why: mismatch.message, reason }, `not ready: ${detail}`);
    else if (cause !== undefined) say(cause.code, { code: cause.code, reason }, `not ready: ${detail}`);
    else say(reason, { err: error, reason }, `not ready: ${detail}`);
  }

  /**
   * Logs the same reason at most once every 30 seconds, so that a long outage does not fill the log. A warning is
   * logged at once if the previous line was not a warning.
   */
  function say(what: string, fields: object, message: string, level: 'info' | 'warn' = 'warn'): void {
    const nowMs = clock.monotonicMs();
    const isKnown = said.what === what && (said.level === 'warn' || level === 'info');
    if (isKnown && nowMs - said.atMs < sayAgainMs) return;
    said = { what, level, atMs: nowMs };
    logger[level](fields, message);
  }

  return {
    start: () => void attempt(),
    missing: () => missing,
    done,
    stop: () => {
      stopped = true;
      callOff();
      finish();
    },
  };
}

/** Migrates the store, if this process does that, and checks whether this version can work with it. */
async function prepare(
  { store, migrate, logger }: Pick<BringUpParts, 'store' | 'migrate' | 'logger'>,
  events: MigrationEvents,
): Promise<void> {
  if (migrate) await store.migrate(events);
  const { jit } = await store.ping();
  if (jit)
    logger.warn('jit is on for pooled connections: set `jit = off` for their role (docs/operating.md)');
}

function reasonFor(error: unknown): Unreadiness {
  if (mismatchIn(error) !== undefined) {
    return {
      reason: 'migrations_pending',
      detail: 'The tables of the database do not fit this version; the log says why.',
    };
  }
  const cause = storeCause(error);
  const detail = cause === undefined ? 'The store cannot be reached yet.' : sayCause(cause);
  return { reason: 'starting', detail };
}

/** Returns whether no retry can succeed. */
function isFinal(error: unknown): boolean {
  return error instanceof KeyPrefixTaken || mismatchIn(error) instanceof UnusableDatabase;
}

/** Stands in for `Promise.withResolvers`, which Node.js 20 lacks. */
function promiseWithResolvers() {
  let resolve: () => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}
