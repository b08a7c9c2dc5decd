import type { Socket } from 'node:net';
import type { Upstream } from '../proxy/upstream/upstream.ts';
import { openConnection } from '../proxy/upstream/connect.ts';

/**
 * Opens a connection of its own to an upstream, verified as all are. Halves of it can end apart.
 *
 * @param ready called when it may be written to; what goes wrong before is an `error` of the socket
 */
export function connectTo(upstream: Upstream, ready: () => void): Socket {
  const connecting = openConnection(upstream, { allowHalfOpen: true });
  return connecting.socket.once(connecting.ready, ready);
}
