import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Message that the creating process sends if it cannot create the database. */
export interface CreationFailure {
  readonly message: string;
  /** Error code, as in `storeCause`; `null` if the cause is unknown. */
  readonly code: string | null;
}

/** Whether there is a database in `databaseDir`; an empty or missing directory has none. */
export async function isCreated(databaseDir: string): Promise<boolean> {
  return (await filesIn(databaseDir)).length > 0;
}

/**
 * Creates the database, with all its tables, in a separate process: PostgreSQL's `initdb` takes some 800 MB of memory,
 * which a process never gives back. The database is created in another folder beside `databaseDir`, which is renamed to
 * `databaseDir` when the database is complete. So a killed process leaves no incomplete database under that name.
 * Folders that killed processes left are removed first.
 *
 * @param signal aborts the creation
 * @throws an error that says why the database was not created, or that the creation was aborted
 */
export async function createDatabase(databaseDir: string, signal: AbortSignal): Promise<void> {
  const [folder, prefix] = [dirname(databaseDir), `${basename(databaseDir)}.new-`];
  for (const name of await filesIn(folder)) if (name.startsWith(prefix)) await remove(join(folder, name));
  const draft = join(folder, `${prefix}${randomUUID()}`);
  try {
    await mkdir(draft, { mode: 0o700 });
    await runProgram(draft, signal);
    await rename(draft, databaseDir);
  } catch (error) {
    await remove(draft);
    throw error;
  }
}

async function filesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}

/**
 * Removes a folder as far as possible. The creating process of a killed gateway may still write to the folder until it
 * notices that its gateway is gone. The next creation removes the rest.
 */
function remove(draft: string): Promise<void> {
  return rm(draft, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
}

/** Path of the program beside this file: `program.ts`, or `program.js` if compiled. */
const program = fileURLToPath(new URL(`program${extname(import.meta.url)}`, import.meta.url));

function runProgram(databaseDir: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    let failure: Error | undefined;
    const child = fork(program, [databaseDir], {
      signal,
      killSignal: 'SIGKILL',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    child.on('error', (error) => (failure ??= error));
    child.on('message', ({ message, code }: CreationFailure) => {
      failure ??= Object.assign(new Error(message), code !== null && { code });
    });
    child.on('exit', (code, killedBy) => {
      if (code === 0) return resolve();
      reject(failure ?? new Error(`the process that makes the embedded store ended (${killedBy ?? code})`));
    });
  });
}
