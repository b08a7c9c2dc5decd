import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { responseOn } from './pipelining.ts';

/**
 * Makes a listener's clients reconnect elsewhere without losing a request. The last response on each connection says
 * `Connection: close` (RFC 9112 §9.6). Later requests on that connection are not processed, so clients may resend them
 * elsewhere.
 */
export class ConnectionClose {
  /** Responses that will say `Connection: close`, each the last one on its connection. */
  readonly #last = new WeakSet<ServerResponse>();

  /** Marks the responses to all requests that arrive from now on. */
  constructor(server: Server) {
    for (const event of ['request', 'checkContinue', 'checkExpectation']) {
      // As long as `checkContinue` and `checkExpectation` have no listener, Node handles them itself (for example, it
      // sends `100 Continue`). So a listener is added only to events that already have one.
      if (server.listenerCount(event) === 0) continue;
      server.prependListener(event, (_request: IncomingMessage, response: ServerResponse) => {
        this.#makeLast(response);
      });
    }
    // A request that arrives while a response is in progress triggers `upgrade` or `connect` (see `pipelining.ts`).
    for (const event of ['upgrade', 'connect'])
      server.prependListener(event, ({ socket }: IncomingMessage) => this.#cameBehind(socket));
  }

  /**
   * Makes the response in progress on `socket` the last one, unless the response's head has been sent or the next
   * request has already arrived.
   */
  underWay(socket: Socket): void {
    const response = responseOn(socket);
    if (response === undefined || response.headersSent) return;
    if ((socket as Parsed).parser?.incoming === response.req) this.#makeLast(response);
  }

  /**
   * Makes a response the last one on its connection: Node writes `Connection: close` if `shouldKeepAlive` is `false`.
   */
  #makeLast(response: ServerResponse): void {
    if (!response.shouldKeepAlive) return;
    response.shouldKeepAlive = false;
    this.#last.add(response);
  }

  /**
   * Handles a request that arrives while a response is in progress. Removes `Connection: close` from the response.
   * Otherwise Node would end the connection after the response, and the new request would be lost.
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
