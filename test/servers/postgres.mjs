// @ts-check
/** A throw-away PostgreSQL cluster in a folder of its own. */
import { execFile } from 'node:child_process';
import { chownSync, cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { serverAccount } from './account.mjs';

const run = promisify(execFile);

/** Of `initdb`. */
const initial = [
  ...['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C'],
  ...['--no-sync', '--no-instructions'],
];
/** Of `pg_basebackup`: it writes down whom to follow. */
const following = ['--write-recovery-conf', '--checkpoint=fast', '--no-sync'];

/**
 * @param {string} dir an empty folder that will hold everything
 * @param {{ bin: string, settings?: Record<string, string>, standbyOf?: string }} options `standbyOf`: URL of a primary
 * @returns {Promise<import('./supervisor.mjs').Kind>}
 */
export async function postgres(dir, options) {
  const { settings = {} } = options;
  const account = serverAccount();
  const data = join(dir, 'data');
  mkdirSync(data, { mode: 0o700 });
  if (account) for (const folder of [dir, data]) chownSync(folder, account.uid, account.gid);
  const bin = await reachable(options.bin, dir, account);
  await (options.standbyOf === undefined
    ? run(join(bin, 'initdb'), ['-D', data, ...initial], { cwd: dir, ...account })
    : run(join(bin, 'pg_basebackup'), ['-D', data, '-d', options.standbyOf, ...following], {
        cwd: dir,
        ...account,
      }));

  return {
    launch: (port) => {
      // What a killed server left says "ready" and would be believed.
      rmSync(join(data, 'postmaster.pid'), { force: true });
      return {
        command: join(bin, 'postgres'),
        args: [
          '-D',
          data,
          ...Object.entries({ ...defaults(port), ...settings }).map(([k, v]) => `--${k}=${v}`),
        ],
        cwd: dir,
        log: join(dir, 'log'),
        account,
        isReady: () => ['ready', 'standby'].includes(pidFile(data)[7]?.trim() ?? ''),
      };
    },
    url: (port) => `postgres://postgres@127.0.0.1:${port}/postgres`,
    stopSignal: 'SIGINT', // "fast" shutdown: ends sessions, writes everything out
    quickStopSignal: 'SIGQUIT', // "immediate" shutdown: like a crash, but the parent still collects its children
    promote: async () => {
      await run(join(bin, 'pg_ctl'), ['promote', '-D', data, '--wait'], { cwd: dir, ...account });
    },
    afterKill: () => removeSharedMemory(data),
  };
}

/**
 * Programs below a private home folder (a clone in /root) are copied to where the account can run them.
 * @param {string} bin
 * @param {string} dir
 * @param {import('./account.mjs').Account | undefined} account
 */
async function reachable(bin, dir, account) {
  try {
    await run(join(bin, 'postgres'), ['--version'], { cwd: dir, ...account });
    return bin;
  } catch {
    cpSync(join(bin, '..'), join(dir, 'programs'), { recursive: true, verbatimSymlinks: true });
    return join(dir, 'programs', 'bin');
  }
}

/** @param {number} port @returns {Record<string, string>} */
function defaults(port) {
  return {
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '300',
    shared_buffers: '64MB',
    // No test cuts the power: what a killed process has written survives in the system's cache, and databases are made
    // and dropped in a fifth of the time.
    fsync: 'off',
    // Shared memory as files in the cluster's folder goes away with the folder, even after a SIGKILL.
    dynamic_shared_memory_type: 'mmap',
    timezone: 'UTC',
    log_timezone: 'UTC',
    max_wal_size: '256MB',
  };
}

/** @param {string} data @returns {string[]} */
function pidFile(data) {
  try {
    return readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n');
  } catch {
    return [];
  }
}

/**
 * The server guards its folder with a System V segment; a killed one cannot remove it.
 * @param {string} data
 */
async function removeSharedMemory(data) {
  const id = pidFile(data)[6]?.trim().split(/\s+/)[1];
  if (id) await run('ipcrm', ['-m', id]).catch(() => undefined);
}
