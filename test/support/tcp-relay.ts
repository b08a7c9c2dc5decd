/** A way to a server, for tests that look at what goes there. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import type { Scope } from './servers.ts';

export interface TcpRelay {
  readonly port: number;
  /** Pool that were opened so far. */
  readonly connections: () => number;
  /** How often these bytes went to the server. */
  readonly count: (bytes: Buffer | string) => number;
  /** Forgets what went by. */
  readonly clear: () => void;
}

/** Relays to `port` of this machine until the test ends. @param host address to listen on */
export async function tcpRelay(t: Scope, port: number, host = '127.0.0.1'): Promise<TcpRelay> {
  const open = new Set<Socket>();
  /** By connection, so that bytes of two are not read as one text. */
  let sent: Buffer[][] = [];
  let connections = 0;
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    connections += 1;
    let chunks: Buffer[] = [];
    let since: typeof sent | undefined;
    near.on('data', (chunk: Buffer) => {
      if (since !== sent) [since, chunks] = [sent, []];
      if (chunks.length === 0) sent.push(chunks);
      chunks.push(chunk);
    });
    for (const socket of [near, far]) {
      open.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        near.destroy();
        far.destroy();
        open.delete(socket);
      });
    }
    near.pipe(far).pipe(near);
  });
  server.listen(0, host);
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    count: (bytes) => sent.reduce((sum, chunks) => sum + occurrences(Buffer.concat(chunks), bytes), 0),
    clear: () => (sent = []),
  };
}

function occurrences(text: Buffer, bytes: Buffer | string): number {
  let found = 0;
  for (let at = text.indexOf(bytes); at !== -1; at = text.indexOf(bytes, at + bytes.length)) found += 1;
  return found;
}
