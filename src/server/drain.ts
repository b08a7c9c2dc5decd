import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Timers } from '../ports/timers.ts';

/** A listener that can be emptied without cutting anybody off who will be done in time. */
export interface Drainable {
  /**
   * Stops accepting, asks clients to leave with their next answer (`Connection: close`), and resolves when the last
   * one is gone. Connections that are still open after `graceMs` are cut: upgraded ones never end by themselves.
   *
   * @returns how many had to be cut
   */
  drain(graceMs: number): Promise<number>;
}

/** To be called before the server listens. Costs nothing per request until it drains. */
export function drainable(server: Server, timers: Timers): Drainable {
  const sockets = new Set<Socket>();
  const track = (socket: Socket): void => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  };
  server.on('connection', track);
  // With TLS the answers hang on the encrypted socket, not on the one below it.
  server.on('secureConnection', track);

  return {
    drain: (graceMs) =>
      new Promise((resolve) => {
        let cut = 0;
        server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => {
          lastOnItsConnection(response);
        });
        for (const socket of sockets) {
          const response = underWay(socket);
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
    // The answer had promised to keep the connection before the drain began.
    else response.once('close', () => setImmediate(() => server.closeIdleConnections()));
  }
}

/** Node keeps the answer that is being written to a connection here; there is no other way to find it. */
function underWay(socket: Socket): ServerResponse | undefined {
  return (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage ?? undefined;
}
