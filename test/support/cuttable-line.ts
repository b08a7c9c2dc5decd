import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import type { Scope } from './servers.ts';

interface CuttableLine {
  readonly url: string;
  /** Open connections carry nothing any more, without being closed, as when a machine between them forgets them. */
  readonly silence: () => void;
  /** Closes all connections, and new ones at once, until it is mended. */
  readonly cut: () => void;
  readonly mend: () => void;
}

/** A way to a server that a test can cut. */
export async function cuttableLine(t: Scope, target: URL): Promise<CuttableLine> {
  let isCut = false;
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    if (isCut) return near.destroy();
    const far = connect(Number(target.port), target.hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => (near.destroy(), far.destroy()));
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
    cut: () => {
      isCut = true;
      for (const socket of sockets) socket.destroy();
    },
    mend: () => {
      isCut = false;
    },
  };
}
