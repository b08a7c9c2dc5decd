// @ts-check
/** A throw-away PgBouncer in transaction mode, with few connections to the server behind it. */
import { chownSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { serverAccount } from './account.mjs';

/**
 * @param {string} dir
 * @param {{ program: string, target: string }} options `target` is the URL of a database that trusts every local user
 * @returns {Promise<import('./supervisor.mjs').Kind>}
 */
export async function pgbouncer(dir, { program, target }) {
  const account = serverAccount();
  const file = join(dir, 'pgbouncer.ini');
  const { hostname, port: serverPort, pathname } = new URL(target);
  return {
    launch: (port) => {
      const settings = {
        listen_addr: '127.0.0.1',
        listen_port: port,
        unix_socket_dir: '',
        auth_type: 'any',
        pool_mode: 'transaction',
        default_pool_size: 4,
      };
      const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
      const databases = ['[databases]', `* = host=${hostname} port=${serverPort} user=postgres`];
      writeFileSync(file, [...databases, '[pgbouncer]', ...lines, ''].join('\n'));
      if (account) for (const path of [dir, file]) chownSync(path, account.uid, account.gid);
      return {
        command: program,
        args: ['-q', file],
        cwd: dir,
        log: join(dir, 'log'),
        account,
        isReady: () => accepts(port),
      };
    },
    url: (port) => `postgres://postgres@127.0.0.1:${port}${pathname}`,
    stopSignal: 'SIGINT',
    quickStopSignal: 'SIGKILL',
  };
}

/** @param {number} port @returns {Promise<boolean>} */
function accepts(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}
