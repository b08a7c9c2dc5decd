import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Application, Listener } from './listener.ts';
import { responseOn } from './pipelining.ts';

/**
 * Sends the clients of a listener elsewhere without a lost request. The last response on each connection says so
 * (`Connection: close`, RFC 9112 §9.6), and later requests on it are not processed, so a client may send them again.
 */
export class Farewell {
  /** The response that says `Connection: close`, as long as nothing has come in behind its request. */
  readonly #last = new WeakMap<Socket, ServerResponse>();
  /** Responses that their clients will not see. */
  readonly #unseen = new WeakSet<ServerResponse>();

  /** Begins with requests that come in from now on. */
  constructor({ server, intercept }: Pick<Listener, 'server' | 'intercept'>) {
    for (const event of ['request', 'checkContinue', 'checkExpectation']) {
      // Node sends `100 Continue` by itself only if there is no listener.
      if (server.listenerCount(event) === 0) continue;
      // Before requests wait for their turn: who comes in behind a response is known when its head is written.
      server.prependListener(event, ({ socket }: IncomingMessage, response: ServerResponse) => {
        this.#arrived(socket, response);
      });
    }
    intercept((application) => this.#before(application));
  }

  /** Makes the present response on `socket` the last one, if no request has come in behind its own. */
  underWay(socket: Socket): void {
    const response = responseOn(socket);
    if (response === undefined || response.headersSent) return;
    if ((socket as Parsed).parser?.incoming === response.req) this.#makeLast(socket, response);
  }

  #arrived(socket: Socket, response: ServerResponse): void {
    const before = this.#last.get(socket);
    if (before?.headersSent) return void this.#unseen.add(response);
    // Pipelined. Node ends the connection with the response that says `close`, and this one would be lost.
    if (before) before.shouldKeepAlive = true;
    this.#makeLast(socket, response);
  }

  /** Node writes `Connection: close` by itself where it is told not to keep the connection. */
  #makeLast(socket: Socket, response: ServerResponse): void {
    response.shouldKeepAlive = false;
    this.#last.set(socket, response);
  }

  /** What is called instead of `application`: it gets no request whose response the client will not see. */
  #before(application: Application): Application {
    const { request, checkContinue, checkExpectation } = application;
    const seen = (serve: Application['request']): Application['request'] => {
      return (request, response) => {
        if (!this.#unseen.has(response)) serve(request, response);
        // Unread, its body would keep the end of the connection from being seen.
        else request.resume();
      };
    };
    return {
      ...application,
      request: seen(request),
      ...(checkContinue && { checkContinue: seen(checkContinue) }),
      ...(checkExpectation && { checkExpectation: seen(checkExpectation) }),
    };
  }
}

/** A socket with Node's parser, which holds the newest request. */
interface Parsed extends Socket {
  readonly parser?: { readonly incoming: IncomingMessage | null } | null;
}
