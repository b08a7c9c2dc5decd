import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { responseOn } from './pipelining.ts';

/**
 * Sends the clients of a listener elsewhere without a lost request. The last response on each connection says so
 * (`Connection: close`, RFC 9112 §9.6). Later requests on the connection are not processed, so a client may send them
 * again.
 */
export class ConnectionClose {
  /** Responses that said `Connection: close` while no request had come in behind their own. */
  readonly #last = new WeakSet<ServerResponse>();

  /** Begins with the next requests. */
  constructor(server: Server) {
    for (const event of ['request', 'checkContinue', 'checkExpectation']) {
      // Node sends `100 Continue` by itself if this event has no listener.
      if (server.listenerCount(event) === 0) continue;
      server.prependListener(event, (_request: IncomingMessage, response: ServerResponse) => {
        this.#makeLast(response);
      });
    }
    // These events end the reading of a connection, even behind a pipelined request.
    for (const event of ['upgrade', 'connect'])
      server.prependListener(event, ({ socket }: IncomingMessage) => this.#cameBehind(socket));
  }

  /** Makes the present response on `socket` the last one, if no request has come in behind its own. */
  underWay(socket: Socket): void {
    const response = responseOn(socket);
    if (response === undefined || response.headersSent) return;
    if ((socket as Parsed).parser?.incoming === response.req) this.#makeLast(response);
  }

  /** Node writes `Connection: close` by itself if it must not keep the connection. */
  #makeLast(response: ServerResponse): void {
    if (!response.shouldKeepAlive) return;
    response.shouldKeepAlive = false;
    this.#last.add(response);
  }

  /**
   * Notes a request behind the present one. Node ends a connection after the response that says `close`, so the new
   * request would be lost.
   */
  #cameBehind(socket: Socket): void {
    const response = responseOn(socket);
    if (response === undefined || response.headersSent) return;
    if (this.#last.delete(response)) response.shouldKeepAlive = true;
  }
}

/** A socket of Node's HTTP parser, which holds the newest request. */
interface Parsed extends Socket {
  readonly parser?: { readonly incoming: IncomingMessage | null } | null;
}
