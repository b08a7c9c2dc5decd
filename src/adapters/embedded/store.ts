import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import { FolderInUse, lockFolder, type FolderLock } from '../files/folder-lock.ts';
import { Hints } from '../postgres/coherence/hints.ts';
import { sayCause, storeCause } from '../postgres/connection/causes.ts';
import { unavailable } from '../postgres/connection/failure.ts';
import { Pool, type Runner } from '../postgres/connection/pool.ts';
import { assembleStore, type Store } from '../postgres/store.ts';
import { createDatabase, isCreated } from './creation/create.ts';
import { connectTo, openDatabase } from './database.ts';
import { startMaintenance } from './maintenance.ts';

/** Thrown if another process uses the data directory. */
export class DataDirInUse extends Error {
  override readonly name = 'DataDirInUse';

  constructor(dataDir: string, cause: FolderInUse) {
    super(
      `the data directory ${dataDir} is in use by another process. Stop that one, or give this one a directory ` +
        'of its own (DATA_DIR); several processes share a store only in PostgreSQL (DATABASE_URL)',
      { cause },
    );
  }
}

const migrationMs = 600_000;

/**
 * Opens a store that needs no database server and serves a single process. PGlite runs the same statements as
 * PostgreSQL would, and keeps the data in `dataDir`. The data survives a SIGKILL; `docs/embedded-store.md` describes
 * what a power cut may destroy.
 *
 * The directory is locked right away. The first `migrate` or `ping` opens the database, and creates it if there is
 * none. Until the database is open, all other calls reject with `unavailable`.
 *
 * @param dataDir directory for all data; created if it does not exist
 * @param onCreate called before a database is created, which takes a few seconds
 * @param deadlineMs of every statement except migrations. No timer fires while PGlite works, so one for all is enough.
 * @throws {DataDirInUse} if another process has the lock
 */
export async function openEmbedded(
  dataDir: string,
  onCreate: () => void = () => undefined,
  deadlineMs = 5_000,
): Promise<Store> {
  const databaseDir = join(dataDir, 'pglite');
  const lock = await takeDataDir(dataDir, databaseDir).catch(explain(dataDir));
  const database = new LateDatabase(databaseDir, onCreate);
  // All statements share one connection. Different kinds of statements take turns on it, and so do tenants.
  const pool = new Pool(
    connectTo(() => database.opened),
    1,
  );
  const within = (ms: number, kind?: string): Runner => database.onceOpen(pool.withDeadline(ms, kind));
  const maintenance = startMaintenance(within(deadlineMs, 'maintenance'));
  const store = assembleStore({
    facts: within(deadlineMs, 'facts'),
    queries: within(deadlineMs, 'queries'),
    reports: within(deadlineMs, 'reports'),
    visitors: within(deadlineMs, 'visitors'),
    background: within(deadlineMs, 'background'),
    buckets: within(deadlineMs, 'buckets'),
    quotas: within(deadlineMs, 'quotas'),
    log: within(deadlineMs, 'log'),
    migrations: within(migrationMs),
    pool: () => pool.state,
    hints: new Hints(),
    // No other process changes the data, so there are no notifications to listen for.
    onFirstHintWanted: () => undefined,
    close: async () => {
      maintenance.stop();
      await database.close(() => pool.close());
      await lock.release();
    },
  });
  const open = (): Promise<void> => database.open().catch(explain(dataDir));
  return {
    ...store,
    migrate: async (events) => {
      await open();
      return store.migrate(events);
    },
    ping: async () => {
      await open();
      return store.ping();
    },
  };
}

/** The embedded database. Statements reject until `open` has opened it; `open` creates it if there is none. */
class LateDatabase {
  readonly #databaseDir: string;
  readonly #onCreate: () => void;
  readonly #abort = new AbortController();
  #opening: Promise<void> | undefined;
  #db: PGlite | undefined;

  constructor(databaseDir: string, onCreate: () => void) {
    this.#databaseDir = databaseDir;
    this.#onCreate = onCreate;
  }

  get opened(): PGlite {
    if (this.#db === undefined) throw new Error('the embedded store is not open yet');
    return this.#db;
  }

  open(): Promise<void> {
    return (this.#opening ??= this.#open());
  }

  onceOpen(runner: Runner): Runner {
    return {
      run: (work, tenant) => {
        if (this.#db !== undefined) return runner.run(work, tenant);
        return Promise.reject(unavailable(new Error('the embedded store is not open yet')));
      },
    };
  }

  /**
   * Aborts the creation of the database if it is under way. Then calls `connections` to close the connections, and
   * closes the database if it is open.
   */
  async close(connections: () => Promise<void>): Promise<void> {
    this.#abort.abort();
    await this.#opening?.catch(() => undefined);
    await connections();
    await this.#db?.close();
  }

  async #open(): Promise<void> {
    const { signal } = this.#abort;
    if (!(await isCreated(this.#databaseDir))) {
      this.#onCreate();
      await createDatabase(this.#databaseDir, signal);
    }
    signal.throwIfAborted();
    this.#db = await openDatabase(this.#databaseDir);
  }
}

async function takeDataDir(dataDir: string, databaseDir: string): Promise<FolderLock> {
  await mkdir(databaseDir, { recursive: true, mode: 0o700 });
  try {
    return await lockFolder(dataDir);
  } catch (error) {
    throw error instanceof FolderInUse ? new DataDirInUse(dataDir, error) : error;
  }
}

/**
 * Returns a function that rethrows an error. If {@link storeCause} knows the cause, the message gives the cause and a
 * remedy.
 */
function explain(dataDir: string): (error: unknown) => never {
  return (error) => {
    const cause = storeCause(error);
    throw cause === undefined
      ? error
      : new Error(`${sayCause(cause)} DATA_DIR is ${dataDir}.`, { cause: error });
  };
}
