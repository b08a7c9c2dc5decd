// @ts-check
/** A throw-away Redis server in a folder of its own, keeping nothing on disk unless asked to. */
import { connect } from 'node:net';
import { join } from 'node:path';

/**
 * @param {string} dir
 * @param {{ server: string, settings?: Record<string, string> }} options
 * @returns {Promise<import('./supervisor.mjs').Kind>}
 */
export async function redis(dir, { server, settings = {} }) {
  return {
    launch: (port) => ({
      command: server,
      args: Object.entries({ port: String(port), bind: '127.0.0.1', dir, save: '', ...settings }).flatMap(
        ([name, value]) => [`--${name}`, value],
      ),
      cwd: dir,
      log: join(dir, 'log'),
      isReady: () => answersPing(port),
    }),
    url: (port) => `redis://127.0.0.1:${port}`,
    stopSignal: 'SIGTERM',
    quickStopSignal: 'SIGKILL',
  };
}

/** @param {number} port @returns {Promise<boolean>} */
function answersPing(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    const end = (/** @type {boolean} */ answer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(1_000, () => end(false));
    socket.on('error', () => end(false));
    socket.on('data', (data) => end(data.toString().startsWith('+PONG')));
  });
}
