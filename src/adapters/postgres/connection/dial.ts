import { connect, type Socket } from 'node:net';
import { pause } from '../../../ports/timers.ts';

/** Address that postgres.js has read from the URL. If there are several hosts, they are tried in turn. */
export interface Address {
  readonly host: readonly string[];
  readonly port: readonly number[];
  /** Path of a Unix socket, used instead of hosts. */
  readonly path?: string;
}

const pauseMs = 100;

/**
 * Returns a function that opens sockets for one client, at most ten per second. On its own, postgres.js would reconnect
 * without a pause if a load balancer whose server is down accepted each connection and closed it at once.
 */
export function dialer(): (address: Address) => Promise<Socket> {
  let attempts = 0;
  let lastMs = -Infinity;
  return async ({ host, port, path }) => {
    const waitMs = lastMs + pauseMs - performance.now();
    if (waitMs > 0) await pause(waitMs);
    lastMs = performance.now();
    if (path) return connect(path);
    const turn = attempts++ % host.length;
    const name = host[turn] ?? 'localhost';
    // TLS verifies the certificate against `host`.
    return Object.assign(connect(port[turn] ?? 5432, name), { host: name });
  };
}
