/** Connections to a server of the test's own process, for tests of what Node promises about them. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import type { Scope } from './servers.ts';

/** Where `server` listens; it begins to where it does not yet, on a free port. */
export async function listening(t: Scope, server: Server): Promise<AddressInfo> {
  if (!server.listening) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.teardown(() => server.close().closeAllConnections());
  }
  return server.address() as AddressInfo;
}

/** A connection to `server`, and what came in on it so far. */
export async function connected(
  t: Scope,
  server: Server,
): Promise<{ readonly socket: Socket; text: string }> {
  const { port } = await listening(t, server);
  const socket = connect(port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  socket.on('error', () => undefined);
  const client = { socket, text: '' };
  socket.on('data', (chunk: Buffer) => (client.text += chunk.toString()));
  await once(socket, 'connect');
  return client;
}
