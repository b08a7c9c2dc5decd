import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rename, rm, symlink } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve as absolute } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

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
 * Whoever wants it listens on a Unix socket of its own in there, and then asks all the others: the kernel knows whether
 * a socket's owner lives, also after a SIGKILL, which a file with a process id cannot tell (ids are used again, and
 * containers have their own). Everybody shows up before asking, so of two the later one always meets the earlier.
 * Of two that ask at the same time the one with the lower name goes on.
 *
 * @throws {DataDirInUse}
 */
export async function lockDataDir(dataDir: string): Promise<DataDirLock> {
  const way = await shortWayTo(dataDir);
  const own = `${prefix}${randomUUID().slice(0, 13)}`;
  let state: State = 'asking';
  const server = await listen(join(way.path, `.${own}`), () => state);
  // Shown only once it answers: before that it would be taken for the socket of a dead process.
  await rename(join(way.path, `.${own}`), join(way.path, own));
  const release = async (): Promise<void> => {
    await rm(join(way.path, own), { force: true });
    server.close();
    await way.remove();
  };
  try {
    for (const other of await readdir(way.path)) {
      if (other === own || !other.startsWith(prefix)) continue;
      if (await keepsItFromUs(join(way.path, other), other < own)) throw new DataDirInUse(dataDir);
    }
  } catch (error) {
    await release();
    throw error;
  }
  state = 'holding';
  return { release };
}

/** What a process says of itself when it is asked. */
type State = 'asking' | 'holding';

const prefix = 'lock-';
const askAgainMs = 5;
const silenceMs = 1_000;

/** Whether the process behind this socket goes first. Returns once it has the directory, has given up or is gone. */
async function keepsItFromUs(path: string, itIsLower: boolean): Promise<boolean> {
  for (;;) {
    const state = await ask(path);
    if (state === 'gone') {
      // Names are never used again, so nobody else can have put another one there.
      await rm(path, { force: true });
      return false;
    }
    if (state === 'holding' || itIsLower) return true;
    await sleep(askAgainMs);
  }
}

function ask(path: string): Promise<State | 'gone'> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(path);
    socket
      .setEncoding('utf8')
      // Frozen, perhaps; alive in any case.
      .setTimeout(silenceMs, () => {
        socket.destroy();
        resolve('holding');
      })
      .on('data', (text: string) => (answer += text))
      .on('end', () => resolve(answer === 'holding' ? answer : 'asking'))
      .on('error', () => resolve('gone'));
  });
}

function listen(path: string, state: () => State): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.on('error', () => undefined).end(state()));
    server.once('error', reject);
    // Nobody stays alive for the sake of the lock.
    server.listen(path, () => resolve(server.unref()));
  });
}

/** Room for the path of a socket in the kernel's structure, on the smallest of the systems we run on (macOS). */
const longestSocketPath = 103;
const longestName = '/.lock-00000000-0000'.length;

/** A path to `dataDir` that leaves room for the names in it: itself, or a link from the temporary directory. */
async function shortWayTo(dataDir: string): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const path = absolute(dataDir);
  if (Buffer.byteLength(path) + longestName <= longestSocketPath)
    return { path, remove: () => Promise.resolve() };
  const folder = await mkdtemp(join(tmpdir(), 'tgw-'));
  const link = join(folder, 'data');
  await symlink(path, link);
  return { path: link, remove: () => rm(folder, { recursive: true, force: true }) };
}
