import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import type { Scope } from './servers.ts';

/**
 * A way to a server on which open connections can be made to carry nothing any more, without being closed, as when a
 * machine between them forgets them.
 */
export async function cuttableLine(
  t: Scope,
  target: URL,
): Promise<{ readonly url: string; readonly silence: () => void }> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
    }
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const url = new URL(target);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    silence: () => {
      for (const socket of sockets) socket.unpipe().pause();
    },
  };
}
