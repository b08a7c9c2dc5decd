/** An application of `src/app.ts` behind a real listener on a free port, as the started program has it. */
import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { ServedApplication } from '../../src/app.ts';
import type { Config } from '../../src/config.ts';
import type { HeldBytes } from '../../src/limits/held-bytes.ts';
import { createListener } from '../../src/server/listener.ts';
import type { ManualTime } from './coherence/manual-time.ts';
import type { Scope } from './servers.ts';

export interface Listening {
  readonly server: Server;
  readonly port: number;
  readonly origin: string;
  /** Bytes that have been read of all clients. */
  readonly bytesRead: () => number;
}

/** Listens on loopback until the test ends; connections that are open then are cut. */
export async function listening(
  t: Scope,
  app: ServedApplication,
  config: Pick<Config, 'limits' | 'listen'>,
  time?: ManualTime,
  held?: HeldBytes,
): Promise<Listening> {
  const { server, connections } = createListener(
    app,
    config.limits,
    config.listen.tls,
    time?.clock,
    time?.timers,
    held,
  );
  const open = new Set<Socket>();
  let ofClosed = 0;
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket) && (ofClosed += socket.bytesRead));
  });
  t.teardown(async () => {
    server.close();
    for (const { socket } of connections) socket.destroy();
    await app.close();
  });
  server.listen({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const scheme = config.listen.tls === null ? 'http' : 'https';
  const bytesRead = (): number => [...open].reduce((sum, socket) => sum + socket.bytesRead, ofClosed);
  return { server, port, origin: `${scheme}://127.0.0.1:${port}`, bytesRead };
}
