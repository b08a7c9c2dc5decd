import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdtemp, open, readdir, rename, rm, symlink } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve as absolute } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Another process has the folder. */
export class FolderInUse extends Error {
  override readonly name = 'FolderInUse';

  constructor(folder: string) {
    super(`the folder ${folder} is in use by another process`);
  }
}

/** In force until released, or until the process is gone. */
export interface FolderLock {
  release(): Promise<void>;
}

/**
 * Makes sure that one process at a time works on `path`; why in this way is in `docs/decisions/data-directory-lock.md`.
 *
 * A process that wants the folder listens on a Unix socket of its own in there, then asks the sockets of all others.
 * Each listens before it asks, so of two processes the later one always finds the earlier. Of two that ask at the same
 * time the one with the lower name goes on.
 *
 * @throws {FolderInUse}
 */
export async function lockFolder(path: string): Promise<FolderLock> {
  const own = `${prefix}${randomUUID().slice(0, 13)}`;
  let state: State = 'asking';
  const server = createServer((socket) => socket.on('error', () => undefined).end(state));
  const release = async (): Promise<void> => {
    await rm(join(path, own), { force: true });
    server.close();
  };
  try {
    await withShortPath(path, async (folder) => {
      await listen(server, join(folder, `.${own}`));
      // Gets its name only now: a socket without a listener would be taken for that of a dead process.
      await rename(join(folder, `.${own}`), join(folder, own));
      for (const other of await readdir(folder)) {
        if (other === own || !other.startsWith(prefix)) continue;
        if (await goesFirst(join(folder, other), other < own)) throw new FolderInUse(path);
      }
    });
  } catch (error) {
    await release();
    throw error;
  }
  state = 'holding';
  return { release };
}

/** What a process replies to the others. Processes of other versions may be among them: the words stay. */
type State = 'asking' | 'holding';

const prefix = 'lock-';
const askAgainMs = 5;
const silenceMs = 1_000;

/** Whether the process behind this socket goes first. `false` once it has given up or is gone. */
async function goesFirst(path: string, hasLowerName: boolean): Promise<boolean> {
  for (;;) {
    const state = await ask(path);
    if (state === 'gone') {
      // No name is used twice, so this cannot remove the socket of a third process.
      await rm(path, { force: true });
      return false;
    }
    if (state === 'holding' || hasLowerName) return true;
    await sleep(askAgainMs);
  }
}

/**
 * Asks the process behind a socket. Only the kernel's word that nobody listens means `gone`: an error of our own, such as
 * EMFILE, says nothing about the other process.
 *
 * @throws where it cannot be asked
 */
function ask(path: string): Promise<State | 'gone'> {
  return new Promise((resolve, reject) => {
    let reply = '';
    const socket = connect(path);
    socket
      .setEncoding('utf8')
      // Its process is stopped, perhaps in a debugger, but alive.
      .setTimeout(silenceMs, () => {
        socket.destroy();
        resolve('holding');
      })
      .on('data', (text: string) => (reply += text))
      .on('end', () => resolve(reply === 'holding' ? reply : 'asking'))
      .on('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT') resolve('gone');
        // A full queue of connections is that of a living process, and stopped as well.
        else if (error.code === 'EAGAIN') resolve('holding');
        // It ended while it was asked, which the next connection finds out.
        else if (error.code === 'ECONNRESET') resolve(ask(path));
        else reject(error);
      });
  });
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // Without `unref` the lock alone would keep the process from ending. Without `exclusive` the primary of a cluster would listen in a
    // worker's place: a path below /proc/self is another one there, and the lock would outlive the worker.
    server.unref().listen({ path, exclusive: true }, resolve);
  });
}

/** Bytes of a socket's path that the kernel takes, on the smallest of the systems we run on (macOS). */
const longestSocketPath = 103;
const longestName = '/.lock-00000000-0000'.length;

/**
 * Runs `work` with a path to `wanted` that leaves room for a name: its own, that of an open descriptor on Linux (containers often have
 * no writable temporary directory), or a link in the temporary directory.
 */
async function withShortPath(wanted: string, work: (folder: string) => Promise<void>): Promise<void> {
  const path = absolute(wanted);
  if (Buffer.byteLength(path) + longestName <= longestSocketPath) return work(path);
  if (process.platform === 'linux') {
    const folder = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
    return work(`/proc/self/fd/${folder.fd}`).finally(() => folder.close());
  }
  const folder = await mkdtemp(join(tmpdir(), 'tgw-'));
  try {
    await symlink(path, join(folder, 'wanted'));
    await work(join(folder, 'wanted'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
