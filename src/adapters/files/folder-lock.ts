import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdtemp, open, readdir, rename, rm, symlink } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve as absolute } from 'node:path';
import { pause } from '../../ports/timers.ts';

/** Thrown if another process holds the folder's lock. */
export class FolderInUse extends Error {
  override readonly name = 'FolderInUse';

  constructor(folder: string) {
    super(`the folder ${folder} is in use by another process`);
  }
}

/** Lock that lasts until it is released or the process ends. */
export interface FolderLock {
  release(): Promise<void>;
}

/**
 * Locks the folder `path`, so that only one process at a time works on it; `docs/maintainers/decisions/data-directory-lock.md`
 * explains why the lock works this way.
 *
 * The process listens on its own Unix socket in the folder. Then it asks the processes behind all other sockets in the
 * folder whether they hold the lock. Each process listens before it asks, so the later of two processes always finds
 * the earlier one's socket. If both ask at the same time, the process whose socket name sorts first gets the lock.
 *
 * @throws {FolderInUse} if another process has the lock
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
      // The socket gets its final name only once it is listening: other processes would mistake a socket without a
      // listener for one left behind by a dead process.
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

/**
 * Reply to a process that wants the lock. Processes running other versions read these words, so they must not change.
 */
type State = 'asking' | 'holding';

const prefix = 'lock-';
const askAgainMs = 5;
const silenceMs = 1_000;

/**
 * Returns whether the process behind the socket `path` takes precedence over this process; `false` if the other process
 * has given up or is gone.
 */
async function goesFirst(path: string, hasLowerName: boolean): Promise<boolean> {
  for (;;) {
    const state = await ask(path);
    if (state === 'gone') {
      // Socket names are never reused, so no other process can be listening on `path` by now.
      await rm(path, { force: true });
      return false;
    }
    if (state === 'holding' || hasLowerName) return true;
    await pause(askAgainMs);
  }
}

/**
 * Asks the process behind a socket for its state. The process counts as `gone` only if the kernel reports that nothing
 * is listening: an error such as EMFILE says nothing about the other process.
 *
 * @throws if the process cannot be asked
 */
function ask(path: string): Promise<State | 'gone'> {
  return new Promise((resolve, reject) => {
    let reply = '';
    const socket = connect(path);
    socket
      .setEncoding('utf8')
      // A process that accepts the connection but never replies is suspended, perhaps by a debugger, and may hold the
      // lock.
      .setTimeout(silenceMs, () => {
        socket.destroy();
        resolve('holding');
      })
      .on('data', (text: string) => (reply += text))
      .on('end', () => resolve(reply === 'holding' ? reply : 'asking'))
      .on('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT') resolve('gone');
        // The socket's backlog is full. The process behind the socket is suspended but alive, and may hold the lock.
        else if (error.code === 'EAGAIN') resolve('holding');
        // The process exited before it replied. The next attempt to connect shows that it is gone.
        else if (error.code === 'ECONNRESET') resolve(ask(path));
        else reject(error);
      });
  });
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // Without `unref`, the lock would keep the process alive. Without `exclusive`, the primary process of a Node.js
    // cluster would listen in place of its worker. The lock would then outlive the worker. Also, a path through
    // /proc/self would lead to the file descriptors of the primary process.
    server.unref().listen({ path, exclusive: true }, resolve);
  });
}

/** Maximum length of a socket path in bytes, on the strictest supported system (macOS). */
const longestSocketPath = 103;
const longestName = '/.lock-00000000-0000'.length;

/**
 * Calls `work` with a path to the folder `wanted`. The path is short enough for a socket name to follow. If the path of
 * `wanted` is too long, `work` gets a different path to the folder:
 * - On Linux, the path goes through an open file descriptor, because containers often have no writable temporary
 *   directory.
 * - On other systems, the path goes through a symbolic link in the temporary directory.
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
