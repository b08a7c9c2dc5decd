import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import postgres from 'postgres';
import { Hints } from '../postgres/coherence/hints.ts';
import { sayCause, storeCause } from '../postgres/connection/causes.ts';
import { Pool } from '../postgres/connection/pool.ts';
import { baseOptions, type Connect } from '../postgres/connection/sql.ts';
import { assembleStore, type Store } from '../postgres/store.ts';
import { lockDataDir, type DataDirLock } from './data-dir-lock.ts';
import { startMaintenance } from './maintenance.ts';
import { PgliteSocket } from './pglite-socket.ts';

/** Of one statement, in milliseconds. While PGlite works nothing else in this process does, so one limit does for all. */
const deadlineMs = 5_000;
const migrationMs = 600_000;

/**
 * The store for one process without a database server: PGlite in `dataDir`, driven by the very statements that run on
 * PostgreSQL. Survives a SIGKILL; what a power cut may take is in `docs/embedded-store.md`.
 *
 * @param dataDir made if it is not there
 * @throws {import('./data-dir-lock.ts').DataDirInUse} where another process has it
 */
export async function openEmbedded(dataDir: string): Promise<Store> {
  const { lock, db } = await openDataDir(dataDir).catch((error: unknown) => {
    const cause = storeCause(error);
    throw cause === undefined
      ? error
      : new Error(`${sayCause(cause)} DATA_DIR is ${dataDir}.`, { cause: error });
  });
  // `socket` is an option that the types do not know.
  const connect: Connect = (extra = {}) =>
    postgres({ ...baseOptions, socket: () => new PgliteSocket(db), ...extra } as typeof baseOptions);
  const pool = new Pool(connect, 1);
  const maintenance = startMaintenance(pool.withDeadline(deadlineMs, 'maintenance'));
  // One connection for everything: what each is for takes turns, and so do tenants.
  return assembleStore({
    facts: pool.withDeadline(deadlineMs, 'facts'),
    queries: pool.withDeadline(deadlineMs, 'queries'),
    reports: pool.withDeadline(deadlineMs, 'reports'),
    background: pool.withDeadline(deadlineMs, 'background'),
    log: pool.withDeadline(deadlineMs, 'log'),
    migrations: pool.withDeadline(migrationMs),
    hints: new Hints(),
    // There is no other process whose mutations could be missed.
    onFirstHintWanted: () => undefined,
    close: async () => {
      maintenance.stop();
      await pool.close();
      await db.close();
      await lock.release();
    },
  });
}

const settings = {
  // 128 MB of buffers are too much for a laptop; the log holds what comes between two checkpoints of `startMaintenance`.
  shared_buffers: '16MB',
  max_wal_size: '64MB',
  min_wal_size: '32MB',
};

async function openDataDir(dataDir: string): Promise<{ readonly lock: DataDirLock; readonly db: PGlite }> {
  const databaseDir = join(dataDir, 'pglite');
  await mkdir(databaseDir, { recursive: true, mode: 0o700 });
  const lock = await lockDataDir(dataDir);
  try {
    return { lock, db: await openDatabase(databaseDir) };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** @throws with what the engine printed, where it cannot start */
async function openDatabase(dataDir: string): Promise<PGlite> {
  const printed: string[] = [];
  const note = (line: string): boolean => printed.push(line) > 0;
  try {
    return await PGlite.create({
      dataDir,
      startParams: [
        ...PGlite.defaultStartParams,
        ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ],
      onStdout: note,
      onStderr: note,
    });
  } catch (error) {
    throw new Error(`the embedded store in ${dataDir} cannot be opened: ${printed.slice(-5).join('\n')}`, {
      cause: error,
    });
  }
}
