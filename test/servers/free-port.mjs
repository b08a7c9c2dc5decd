// @ts-check
import { createServer } from 'node:net';

// Below the range that Linux and macOS hand to outgoing connections: a port from there could be taken by some client
// socket while its server is being restarted.
const LOWEST = 15_000;
const HIGHEST = 32_000;

/**
 * A loopback TCP port that no process listens on right now.
 * @returns {Promise<number>}
 */
export async function freePort() {
  for (;;) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    if (await isFree(port)) return port;
  }
}

/** @param {number} port */
function isFree(port) {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
