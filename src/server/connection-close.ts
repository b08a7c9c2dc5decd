import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { responseOn } from './pipelining.ts';

/**
 * Makes the clients of a listener connect elsewhere without losing a request. The last response on each connection says
 * `Connection: close` (RFC 9112 §9.6). Later requests on that connection are not processed, so a client may send them
 * again elsewhere.
 */
export class ConnectionClose {
  /** Responses that will say `Connection: close`, because no later request had arrived when they were marked. */
  readonly #last = new WeakSet<ServerResponse>();

  /** Marks the responses to all requests from now on. */
  constructor(server: Server) {
    for (const event of ['request', 'checkContinue', 'checkExpectation']) {
      // Node acts on some events by itself if they have no listener (for example, it sends `100 Continue`), so these
      // get none.
      if (server.listenerCount(event) === 0) continue;
      server.prependListener(event, (_request: IncomingMessage, response: ServerResponse) => {
        this.#makeLast(response);
      });
    }
    // A request that arrives behind another one comes through these events, too (`pipelining.ts`).
    for (const event of ['upgrade', 'connect'])
      server.prependListener(event, ({ socket }: IncomingMessage) => this.#cameBehind(socket));
  }

  /** Makes the response in progress on `socket` the last one, if no later request has arrived behind its request. */
  underWay(socket: Socket): void {
    const response = responseOn(socket);
    if (response === undefined || response.headersSent) return;
    if ((socket as Parsed).parser?.incoming === response.req) this.#makeLast(response);
  }

  /** Makes a response the last one: Node writes `Connection: close` if it must not keep the connection. */
  #makeLast(response: ServerResponse): void {
    if (!response.shouldKeepAlive) return;
    response.shouldKeepAlive = false;
    this.#last.add(response);
  }

  /**
   * Notes that a request has arrived behind the one in progress. The response in progress then no longer says `close`,
   * because Node would end the connection after that response and the new request would be lost.
   */
  #cameBehind(socket: Socket): void {
    const response = responseOn(socket);
    if (response === undefined || response.headersSent) return;
    if (this.#last.delete(response)) response.shouldKeepAlive = true;
  }
}

/** A socket with Node's HTTP parser, which holds the newest request. */
interface Parsed extends Socket {
  readonly parser?: { readonly incoming: IncomingMessage | null } | null;
}
