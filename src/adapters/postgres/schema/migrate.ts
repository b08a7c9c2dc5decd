import { pause, systemTimers } from '../../../ports/timers.ts';
import type { Runner } from '../connection/pool.ts';
import type { Sql, Statements } from '../connection/sql.ts';
import { readSchema } from './applied.ts';
import { describeWait } from './lock-holders.ts';
import { readSchemaFiles, type SchemaFiles, type Step } from './files.ts';

/** Listeners for the progress of a migration. */
export interface MigrationEvents {
  /** Called after this process has applied a part of the schema, with its name: `base`, `0001 NAME` or `functions 2`. */
  readonly onStep?: (step: string) => void;
  /** Called if a part cannot be applied yet. It is retried as often as needed. */
  readonly onWait?: (wait: MigrationWait) => void;
}

export interface MigrationWait {
  /** Name of the part; see {@link MigrationEvents.onStep}. */
  readonly step: string;
  /** Human-readable obstacle: a lock and its holder, or another process that is migrating the database. */
  readonly waitsFor: string;
  /** Whether another process is migrating the database. This is normal if several replicas start on an older schema. */
  readonly elsewhere: boolean;
}

/** Outcome of one attempt to apply a migration. */
type Attempt =
  | { readonly outcome: 'applied'; readonly step: string }
  | { readonly outcome: 'nothing left' | 'another is at it' }
  | { readonly outcome: 'locked'; readonly step: string; readonly pauseMs: number };

/** Number of the advisory lock that a process holds while it applies a migration. */
const migrationLock = 7_311_970_451;

/**
 * Maximum time in milliseconds that a migration waits for a table lock. While the migration waits, later statements on
 * the table, even lease renewals, queue up behind it. So this maximum is below every statement's deadline, and
 * `patienceWith` keeps the wait below the interval between lease renewals.
 */
const longestLockWaitMs = 200;
const shortestLockWaitMs = 10;

/**
 * Milliseconds that each registered replica adds to the pause between two attempts of a process. All replicas make
 * attempts during a rollout, so more replicas need longer pauses.
 */
const pauseMsPerReplica = 500;
const shortestPauseMs = 4_000;
const longestPauseMs = 16_000;
/** Average time in milliseconds between two schema checks by a waiting process. */
const lookEveryMs = 300;

/**
 * Brings the schema up to this version. Any number of processes may call this at the same time: one does the work, and
 * the rest wait without holding a lock. An empty database gets the base, all steps and the functions in one transaction.
 * In any other database, each missing step commits on its own, together with its row in `schema_step`, and the functions
 * are replaced last, all at once, if their number is higher than that of the functions in force. If another session
 * holds a lock that a step needs, the step gives up quickly and is retried a few seconds later, as often as needed.
 * Replicas of the previous version keep serving requests in the meantime.
 *
 * A database that is newer than this version is accepted if all of its additional steps are compatible with this
 * version ({@link Step.compatibleWith}), and keeps its functions. So old replicas can restart during a rollout, and a
 * release can be rolled back. Otherwise it is rejected.
 *
 * @param observer runs a statement while a step is waiting, to see which lock it is waiting for
 * @param files SQL files of this version; tests pass others
 * @returns the number of the functions in force
 * @throws {import('./applied.ts').SchemaMismatch} if this version cannot work with the database. If a store's
 * {@link Runner} wraps the error, the mismatch is the `cause` of the thrown error
 */
export async function migrate(
  db: Runner,
  { onStep, onWait }: MigrationEvents = {},
  observer: Runner = db,
  files?: SchemaFiles,
): Promise<number> {
  const known = files ?? (await readSchemaFiles());
  let nextTryMs = -Infinity;
  for (;;) {
    const { functions, missing } = await db.run((sql) => readSchema(sql, known));
    const [next] = missing;
    if (next === undefined) return functions;
    if (performance.now() >= nextTryMs) {
      const watch = watchOver(observer);
      const attempt = await db.run((sql) => applyNext(sql, known, watch.begin)).finally(watch.end);
      if (attempt.outcome === 'applied') onStep?.(attempt.step);
      if (attempt.outcome === 'applied' || attempt.outcome === 'nothing left') continue;
      if (attempt.outcome === 'locked') {
        nextTryMs = performance.now() + attempt.pauseMs * (0.75 + Math.random() / 2);
        const waitsFor = (await watch.seen()) ?? 'a lock of another session';
        onWait?.({ step: attempt.step, waitsFor, elsewhere: false });
      } else {
        const waitsFor = 'another process that migrates the database';
        onWait?.({ step: next.name, waitsFor, elsewhere: true });
      }
    }
    await pause(lookEveryMs * (0.5 + Math.random()));
  }
}

/**
 * Applies what is missing next in a transaction. The lock that coordinates the processes belongs to that transaction, so
 * it works even behind a transaction pooler and is released if the connection ends.
 *
 * @param onTry called before the step can wait for a lock, with the session's process id and the maximum wait in
 * milliseconds
 */
async function applyNext(
  sql: Sql,
  files: SchemaFiles,
  onTry: (pid: number, lockWaitMs: number) => void,
): Promise<Attempt> {
  let trying: { readonly step: string; readonly pauseMs: number } | undefined;
  try {
    return await sql.begin(async (tx): Promise<Attempt> => {
      await tx`select set_config('statement_timeout', '0', true), set_config('lock_timeout', '200ms', true)`;
      await tx`select set_config('idle_in_transaction_session_timeout', '0', true)`;
      const [session] = await tx<[{ readonly mine: boolean; readonly pid: number }]>`
        select pg_try_advisory_xact_lock(${migrationLock}) as mine, pg_backend_pid() as pid`;
      if (!session.mine) return { outcome: 'another is at it' };
      // The schema is read again under the lock, because another process may have changed it in the meantime.
      const [next] = (await readSchema(tx, files)).missing;
      if (next === undefined) return { outcome: 'nothing left' };
      if (next.kind === 'base') await makeAll(tx, files);
      else {
        const { lockWaitMs, pauseMs } = await readPatience(tx);
        trying = { step: next.name, pauseMs };
        await tx`select set_config('lock_timeout', ${String(lockWaitMs)}, true)`;
        onTry(session.pid, lockWaitMs);
        if (next.kind === 'step') await applyStep(tx, next.step);
        else await applyFunctions(tx, files);
      }
      return { outcome: 'applied', step: next.name };
    });
  } catch (error) {
    if (trying !== undefined && isLockConflict(error)) return { outcome: 'locked', ...trying };
    throw error;
  }
}

/** Makes the whole schema in an empty database. */
async function makeAll(tx: Statements, files: SchemaFiles): Promise<void> {
  await tx
    .unsafe(
      `create table schema_base (
         one boolean primary key default true check (one), checksum text not null,
         functions int not null, functions_checksum text not null
       );
       create table schema_step (
         number int primary key, name text not null, checksum text not null, compatible_with int not null,
         applied_at timestamptz not null default now()
       )`,
    )
    .simple();
  await tx`insert into schema_base (checksum, functions, functions_checksum) values (${files.base.checksum}, 0, '')`;
  await tx.unsafe(files.base.tables).simple();
  for (const step of files.steps) await applyStep(tx, step);
  await applyFunctions(tx, files);
  await tx.unsafe(files.base.rest).simple();
}

async function applyStep(tx: Statements, step: Step): Promise<void> {
  await tx.unsafe(step.text).simple();
  await tx`
    insert into schema_step (number, name, checksum, compatible_with)
    values (${step.number}, ${step.name}, ${step.checksum}, ${step.compatibleWith})`;
}

async function applyFunctions(tx: Statements, { functions }: SchemaFiles): Promise<void> {
  // Functions call each other, in any order.
  await tx`select set_config('check_function_bodies', 'off', true)`;
  await tx.unsafe(functions.text).simple();
  await tx`update schema_base set functions = ${functions.number}, functions_checksum = ${functions.checksum}`;
}

async function readPatience(tx: Statements): Promise<Patience> {
  const [registered] = await tx<[{ readonly shortest: number | null; readonly replicas: number }]>`
    select min(lease_ms) as shortest, count(*)::int as replicas from replica`;
  return patienceWith(registered.shortest, registered.replicas);
}

/** Waiting times of a migration, in milliseconds. */
export interface Patience {
  /** Maximum wait for a lock. */
  readonly lockWaitMs: number;
  /** Pause before the next attempt. */
  readonly pauseMs: number;
}

/**
 * Returns waiting times that leave the registered replicas enough time to renew their leases.
 *
 * @param shortestLeaseMs shortest lease duration of these replicas, in milliseconds; `null` if there are none
 * @param replicas number of registered replicas
 */
export function patienceWith(shortestLeaseMs: number | null, replicas: number): Patience {
  const renewalMs = (shortestLeaseMs ?? Infinity) / 4;
  return {
    lockWaitMs: Math.floor(Math.max(shortestLockWaitMs, Math.min(longestLockWaitMs, renewalMs / 2))),
    pauseMs: Math.min(longestPauseMs, Math.max(shortestPauseMs, replicas * pauseMsPerReplica)),
  };
}

/** Finds out which lock an attempt is waiting for, by running a statement while the attempt waits. */
function watchOver(observer: Runner): {
  readonly begin: (pid: number, lockWaitMs: number) => void;
  readonly end: () => void;
  /** Returns a description of the lock; `undefined` if no wait was seen. */
  readonly seen: () => Promise<string | undefined>;
} {
  let cancel = (): void => undefined;
  let looking: Promise<string | undefined> = Promise.resolve(undefined);
  return {
    begin: (pid, lockWaitMs) => {
      cancel = systemTimers.after(lockWaitMs / 4, () => {
        looking = observer.run((sql) => describeWait(sql, pid)).catch(() => undefined);
      });
    },
    end: () => cancel(),
    seen: () => looking,
  };
}

/** Returns whether the error is `lock_not_available` or `deadlock_detected`. */
function isLockConflict(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === '55P03' || error.code === '40P01');
}
