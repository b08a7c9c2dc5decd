// @ts-check
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

/** Ports that Linux and macOS give to no outgoing connection: one of those could take the port before the test does. */
const [FROM, TO] = [15_000, 32_000];
/** From a port to the UDP port that says it has been handed out. */
const HANDED_OUT = 32_768;

/**
 * A loopback TCP port that no process listens on right now, and that no test is given until this process ends.
 * @returns {Promise<number>}
 */
export async function unusedPort() {
  for (;;) {
    const port = randomInt(FROM, TO);
    if ((await isUnused(port)) && (await handOut(port))) return port;
  }
}

/** @param {number} port */
function isUnused(port) {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}

/**
 * Keeps a socket open as long as this process runs: another process, or another call, gets no second one.
 * @param {number} port
 */
function handOut(port) {
  return new Promise((resolve) => {
    const socket = createSocket('udp4').unref();
    socket.once('error', () => resolve(false));
    socket.bind({ port: port + HANDED_OUT, address: '127.0.0.1', exclusive: true }, () => resolve(true));
  });
}
