import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Message that the creating process sends if it cannot create the database. */
export interface CreationFailure {
  readonly message: string;
  /** Error code that `storeCause` knows; `null` if the cause is unknown. */
  readonly code: string | null;
}

/** Returns whether `databaseDir` contains a database; `false` if the directory is empty or missing. */
export async function isCreated(databaseDir: string): Promise<boolean> {
  return (await filesIn(databaseDir)).length > 0;
}

/**
 * Creates the database with all its tables in a separate process: PostgreSQL's `initdb` takes about 800 MB of memory,
 * and a process never gives that memory back. The files are written to another folder beside `databaseDir`. That folder
 * is renamed to `databaseDir` once the database is complete, so a killed process cannot leave an incomplete database
 * there. Folders left behind by killed processes are removed first.
 *
 * @param signal aborts the creation
 * @throws if the database could not be created, or the creation was aborted
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
 * Removes the folder `draft`, and ignores errors. The removal can fail if the child process of a killed gateway is still
 * writing to the folder. The next creation removes the rest.
 */
function remove(draft: string): Promise<void> {
  return rm(draft, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
}

/** Path of the program that creates a database: `program.ts` beside this file, or `program.js` if compiled. */
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
