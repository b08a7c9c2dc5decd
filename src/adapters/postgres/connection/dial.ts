import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Address that postgres.js has read from the URL; several hosts are tried in turn. */
export interface Address {
  readonly host: readonly string[];
  readonly port: readonly number[];
  /** Path of a Unix socket, in place of hosts. */
  readonly path?: string;
}

const pauseMs = 100;

/**
 * Returns a function that opens the sockets of one client, at most ten a second. postgres.js by itself would reconnect
 * without a pause if a load balancer accepts each connection and closes it at once because its server is down.
 */
export function dialer(): (address: Address) => Promise<Socket> {
  let attempts = 0;
  let lastMs = -Infinity;
  return async ({ host, port, path }) => {
    const waitMs = lastMs + pauseMs - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    lastMs = performance.now();
    if (path) return connect(path);
    const turn = attempts++ % host.length;
    const name = host[turn] ?? 'localhost';
    // TLS verifies the certificate against `host`.
    return Object.assign(connect(port[turn] ?? 5432, name), { host: name });
  };
}
