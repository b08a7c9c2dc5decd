import { fastifyHttpProxy } from '@fastify/http-proxy';
import Fastify from 'fastify';
import type { IncomingMessage } from 'node:http';
import type { Dispatcher } from 'undici';
import { servedMethods } from '../../domain/acting-decision.ts';
import { guardedOn } from '../../http/guarded.ts';
import type { UsageSink } from '../../ports/usage.ts';
import { openConnection, type Address } from '../upstream/connect.ts';
import { UpstreamTimeout } from '../upstream/errors.ts';
import { Pool } from '../upstream/pool.ts';
import { maxResponseHeadBytes } from '../upstream/response-parser.ts';
import type { PoolOptions, UpstreamClient } from '../upstream/upstream-client.ts';
import { ClientConnection, type Connector } from './client-connection.ts';
import { ForwardedRequest } from './forwarded-request.ts';

/** Milliseconds after which an idle connection is closed, as in the gateway's own client. */
const idleMs = 4_000;

/** Key of a request on its way through @fastify/http-proxy, which copies only headers. */
const forwarded = Symbol('the request that is forwarded');

interface MarkedHeaders {
  readonly [forwarded]?: ForwardedRequest;
}

/**
 * Opens a route's way to its upstream through @fastify/http-proxy and undici (`client: undici`), for an upstream that
 * the gateway's own client cannot talk to.
 *
 * @fastify/http-proxy is mounted for the route and forwards the request that the exchange gives it. The exchange
 * handles headers in both directions, timeouts, problem bodies and the decision in the tick of sending, as it does with
 * the gateway's own client. Nothing is used that @fastify/http-proxy would make of the client's request by itself: its
 * headers, a path that it rewrites, up to ten retries of a GET, an upstream's certificate that it does not verify.
 */
export async function openForwarder(
  address: Address,
  options: Omit<PoolOptions<ForwardedRequest>, 'connect' | 'report'>,
  { usage, report }: { readonly usage: Pick<UsageSink, 'commit'>; readonly report: (error: unknown) => void },
): Promise<UpstreamClient> {
  const { hostname } = address.origin;
  const connect = connectorOf(address, options.connectMs);
  const pool = new Pool<ForwardedRequest>({
    ...options,
    report,
    // undici connects when it has a request to send.
    connect(owner, done) {
      const made = new ClientConnection(address.origin, clientSettings, connect, { owner, report });
      done(made);
      return () => made.close();
    },
  });
  /** Requests on their way through @fastify/http-proxy, by the view that it gets of them. */
  const underWay = new WeakMap<IncomingMessage, ForwardedRequest>();

  const app = Fastify({ logger: false });
  app.setErrorHandler((error, request, reply) => {
    reply.hijack();
    underWay.get(request.raw)?.broke(error);
  });
  await app.register(fastifyHttpProxy, {
    upstream: address.origin.origin,
    routes: ['/'],
    httpMethods: [...servedMethods],
    proxyPayloads: false,
    disableRequestLogging: true,
    preHandler: (request, _reply, done) =>
      done(
        underWay.has(request.raw)
          ? undefined
          : new Error('a request that was not admitted came to the proxy'),
      ),
    replyOptions: {
      rewriteRequestHeaders: ({ raw }) => ({ [forwarded]: underWay.get(raw as IncomingMessage) }),
      rewriteHeaders: () => ({}),
      retryDelay: () => null,
      // The exchange writes the response.
      onResponse: (_request, reply) => void reply.hijack(),
      onError: (reply) => void reply.hijack(),
    },
    undici: { request: send(pool) as unknown as Dispatcher['request'] },
  });
  await app.ready();

  return {
    send(request, handler, { request: received, response }) {
      const view = viewOf(received);
      underWay.set(view, new ForwardedRequest(request, handler, { hostname, usage }));
      app.routing(view, response);
    },
    close() {
      pool.close();
      void app.close();
    },
  };
}

const clientSettings = {
  keepAliveTimeout: idleMs,
  maxHeaderSize: maxResponseHeadBytes,
  // The exchange watches both sides. These timeouts would end a request without its knowledge.
  headersTimeout: 0,
  bodyTimeout: 0,
};

/** Replaces undici's own function, which @fastify/http-proxy calls to send a request. */
function send(pool: Pool<ForwardedRequest>) {
  return (
    { headers }: { readonly headers: MarkedHeaders },
    done: (error: Error | null, response?: object) => void,
  ): void => headers[forwarded]?.sendBy(pool, done);
}

/**
 * View of the request for @fastify/http-proxy: its method, and no other text of the client. So neither its parsers nor
 * its path handling can change anything.
 */
function viewOf(request: IncomingMessage): IncomingMessage {
  return Object.create(request, { url: { value: '/' }, headers: { value: {} } }) as IncomingMessage;
}

/** Makes connections, and verifies certificates, with the same function as the gateway's own client. */
function connectorOf(address: Address, connectMs: number): Connector {
  return (_options, done) => {
    const { socket, ready } = openConnection(address, {});
    const late = guardedOn(socket, () => void socket.destroy(new UpstreamTimeout('accept a connection')));
    const timer = setTimeout(late, connectMs);
    let over = false;
    const failed = guardedOn(socket, (error: Error) => {
      clearTimeout(timer);
      if (over) return;
      over = true;
      done(error, null);
    });
    const connected = (): void => {
      clearTimeout(timer);
      done(null, socket);
      over = true;
      socket.off('error', failed);
    };
    socket.once('error', failed);
    const closed = (): void => failed(new Error('the upstream closed the connection'));
    socket.once('close', guardedOn(socket, closed));
    socket.once(ready, guardedOn(socket, connected));
  };
}
