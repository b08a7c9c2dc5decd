import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Timers } from '../ports/timers.ts';

/** A server that can be closed without cutting off requests that end in time. */
export interface Drainable {
  /**
   * Accepts no more connections, tells clients to close theirs after the next response (`Connection: close`), and
   * resolves when the last is closed. Those still open after `graceMs` are cut: upgraded ones never end by themselves.
   *
   * @returns how many had to be cut
   */
  readonly drain: (graceMs: number) => Promise<number>;
}

/** To be called before the server listens. Costs nothing per request until it drains. */
export function drainable(server: Server, timers: Timers): Drainable {
  const sockets = new Set<Socket>();
  const track = (socket: Socket): void => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  };
  server.on('connection', track);
  // With TLS a response belongs to the encrypted socket, not to the one below it.
  server.on('secureConnection', track);

  return {
    drain: (graceMs) =>
      new Promise((resolve) => {
        let cut = 0;
        server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => {
          lastOnItsConnection(response);
        });
        for (const socket of sockets) {
          const response = responseOn(socket);
          if (response !== undefined) lastOnItsConnection(response);
          // Node counts a connection that has never sent anything among the busy ones.
          else if (socket.bytesRead === 0) socket.destroy();
        }
        const callOff = timers.after(graceMs, () => {
          cut = sockets.size;
          for (const socket of sockets) socket.destroy();
        });
        server.close(() => {
          callOff();
          resolve(cut);
        });
        server.closeIdleConnections();
      }),
  };

  /** Node writes `Connection: close` by itself where it is told not to keep the connection. */
  function lastOnItsConnection(response: ServerResponse): void {
    if (!response.headersSent) response.shouldKeepAlive = false;
    // Its head has promised to keep the connection; that went out before the drain began.
    else response.once('close', () => setImmediate(() => server.closeIdleConnections()));
  }
}

/** Node keeps the response that is being written to a connection here; there is no other way to find it. */
function responseOn(socket: Socket): ServerResponse | undefined {
  return (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage ?? undefined;
}
