import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Where to connect to, as postgres.js has read it from the URL: several hosts are tried in turn. */
export interface Address {
  readonly host: readonly string[];
  readonly port: readonly number[];
  /** A Unix socket, instead of hosts. */
  readonly path?: string;
}

const pauseMs = 100;

/**
 * Makes the sockets of one client, no faster than ten a second. Left to itself, postgres.js connects again without any
 * pause where something accepts a connection and closes it at once, as a load balancer does whose server is down.
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
    // `host` is what TLS verifies the certificate against.
    return Object.assign(connect(port[turn] ?? 5432, name), { host: name });
  };
}
