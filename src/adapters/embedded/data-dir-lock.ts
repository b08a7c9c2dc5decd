import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rename, rm, symlink } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve as absolute } from 'node:path';

/** Another process works on the data directory. */
export class DataDirInUse extends Error {
  override readonly name = 'DataDirInUse';

  constructor(dataDir: string) {
    super(
      `the data directory ${dataDir} is in use by another process. Stop that one, or give this one a directory ` +
        'of its own (DATA_DIR); several processes share a store only in PostgreSQL (DATABASE_URL)',
    );
  }
}

/** Held until released or until the process is gone, however it went. */
export interface DataDirLock {
  release(): Promise<void>;
}

/**
 * Makes sure that one process at a time works on `dataDir`.
 *
 * The lock is a Unix socket somebody listens on: the kernel knows whether its owner lives, also after a SIGKILL, which
 * a file with a process id cannot tell (ids are used again, and containers have their own). It lies in a directory
 * that is renamed into place with the socket already listening, so nobody ever sees a lock without its owner.
 *
 * @throws {DataDirInUse}
 */
export async function lockDataDir(dataDir: string): Promise<DataDirLock> {
  const way = await shortWayTo(dataDir);
  const held = join(way.path, 'lock');
  const own = join(way.path, newName());
  await mkdir(own, { mode: 0o700 });
  const server = await listen(join(own, socketName));
  try {
    while (!(await moved(own, held))) {
      if (await answers(join(held, socketName))) throw new DataDirInUse(dataDir);
      await takeAway(held, join(way.path, newName()), dataDir);
    }
  } catch (error) {
    server.close();
    await rm(own, { recursive: true, force: true });
    await way.remove();
    throw error;
  }
  return {
    async release() {
      await rm(held, { recursive: true, force: true });
      server.close();
      await way.remove();
    },
  };
}

const socketName = 'socket';

function newName(): string {
  return `.lock-${randomUUID().slice(0, 8)}`;
}

/** Removes the lock of a process that is gone. */
async function takeAway(held: string, stale: string, dataDir: string): Promise<void> {
  if (!(await moved(held, stale))) return;
  // Between the question and the move another process may have taken it away first and put its own lock there.
  if (await answers(join(stale, socketName))) {
    await moved(stale, held);
    throw new DataDirInUse(dataDir);
  }
  await rm(stale, { recursive: true, force: true });
}

/** Renames a directory; `false` where the target is there already or the source is gone. */
async function moved(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && expected.has(String(error.code))) return false;
    throw error;
  }
}

const expected = new Set(['ENOTEMPTY', 'EEXIST', 'ENOENT']);

function listen(path: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', reject);
    // Nobody stays alive for the sake of the lock.
    server.listen(path, () => resolve(server.unref()));
  });
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** Room for the path of a socket in the kernel's structure, on the smallest of the systems we run on (macOS). */
const longestSocketPath = 103;

/** A path to `dataDir` that leaves room for the names below it: itself, or a link from the temporary directory. */
async function shortWayTo(dataDir: string): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const path = absolute(dataDir);
  if (Buffer.byteLength(join(path, newName(), socketName)) <= longestSocketPath) {
    return { path, remove: () => Promise.resolve() };
  }
  const folder = await mkdtemp(join(tmpdir(), 'tgw-'));
  const link = join(folder, 'data');
  await symlink(path, link);
  return { path: link, remove: () => rm(folder, { recursive: true, force: true }) };
}
