import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { Exchange } from './http-exchange.ts';
import { writeProblem } from './write-problem.ts';
import type { Relay } from './route.ts';

/** What a plain request must have passed before it is taken. */
export interface Checks {
  /** Route of a plain request that nothing is wrong with; `null` for every other one. */
  readonly routeOf: (request: IncomingMessage) => number | null;
  /** Requests are being refused to get over an overload. */
  readonly shedding: () => boolean;
  readonly newRequestId: (request: IncomingMessage) => string;
}

/**
 * Takes plain requests for upstreams before Fastify does: they need nothing of its router, its objects and its
 * hooks (3 % of a profile). Whatever is special or wrong about a request, it goes to Fastify as it
 * came, where the same functions judge it again, and where it is answered.
 */
export function takePlainRequests(app: FastifyInstance, relays: readonly Relay[], checks: Checks): void {
  const { routeOf, shedding, newRequestId } = checks;
  const { server } = app;
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (request.method === 'PRI') return refuseHttp2(response, newRequestId(request));
    const route = shedding() ? null : routeOf(request);
    const relay = route === null ? undefined : relays[route];
    if (relay === undefined) return app.routing(request, response);
    const exchange = new Exchange(relay, request, response, request.url ?? '', newRequestId(request));
    try {
      exchange.start();
    } catch (error) {
      // A fault of ours: nothing of it may get out, and nothing may go on.
      app.log.error({ err: error }, 'a request could not be relayed');
      response.destroy();
    }
  });
}

/** Node's parser lets the first line of HTTP/2 pass as a request; Fastify's router knows no such method and fails. */
function refuseHttp2(response: ServerResponse, requestId: string): void {
  const detail = 'The request is not valid HTTP/1.1.';
  // What the client wrote as a target is not a path that it could tell anything by.
  const about = { target: '/', requestId, headers: ['connection', 'close'] };
  writeProblem(response, { code: 'invalid_request', detail }, about);
}
