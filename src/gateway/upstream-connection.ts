import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import type { Upstream } from './upstream.ts';

/**
 * Opens a connection of its own to an upstream, verified as all are. Halves of it can end apart.
 *
 * @param ready called when it may be written to; what goes wrong before is an `error` of the socket
 */
export function connectTo({ socketPath, origin, tls }: Upstream, ready: () => void): Socket {
  if (socketPath !== null)
    return connectTcp({ path: socketPath, allowHalfOpen: true }).once('connect', ready);
  const secure = origin.protocol === 'https:';
  const host = origin.hostname.replace(/^\[|\]$/g, '');
  const port = Number(origin.port) || (secure ? 443 : 80);
  if (!secure) return connectTcp({ host, port, allowHalfOpen: true }).once('connect', ready);
  const options: ConnectionOptions = { host, port, ...tls, ALPNProtocols: ['http/1.1'] };
  // The declarations leave the last one out.
  return connectTls(Object.assign(options, { allowHalfOpen: true })).once('secureConnect', ready);
}
