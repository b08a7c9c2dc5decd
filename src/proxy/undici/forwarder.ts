import { fastifyHttpProxy } from '@fastify/http-proxy';
import Fastify from 'fastify';
import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import { servedMethods } from '../../domain/acting-decision.ts';
import { http } from '../../http1/node-http.ts';
import type { UsageSink } from '../../ports/usage.ts';
import type { Address } from '../upstream/connect.ts';
import { Pool } from '../upstream/pool.ts';
import type { PoolOptions, UpstreamClient } from '../upstream/upstream-client.ts';
import { systemTimers } from '../../ports/timers.ts';
import { ClientConnection } from './client-connection.ts';
import type { ForwardedRequest } from './forwarded-request.ts';

/** Property of the headers object. It carries a request through @fastify/http-proxy, which passes on only headers. */
const forwarded = Symbol('the request that is forwarded');

interface MarkedHeaders {
  readonly [forwarded]?: ForwardedRequest;
}

/**
 * Opens a route's client for an upstream that the gateway's own client cannot talk to (`client: undici`). The opened
 * client forwards requests through @fastify/http-proxy and undici.
 *
 * Each route has its own @fastify/http-proxy, which forwards the request that the exchange gives it. As with the
 * gateway's own client, the exchange handles headers in both directions, timeouts and problem bodies, and checks the
 * decision in the tick that sends the request. Features of @fastify/http-proxy that would change a request are not
 * used: its own headers, rewritten paths, up to ten retries of a GET, and connections without verified certificates.
 */
export async function openForwarder(
  address: Address,
  options: Omit<PoolOptions, 'connect' | 'report'>,
  { usage, report }: { readonly usage: Pick<UsageSink, 'commit'>; readonly report: (error: unknown) => void },
): Promise<UpstreamClient> {
  /** Requests that @fastify/http-proxy is forwarding, each keyed by its view ({@link viewOf}). */
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
    undici: { request: dispatch as unknown as Dispatcher['request'] },
  });
  await app.ready();

  const forward = (request: ForwardedRequest, method: string): void => {
    const view = viewOf(method);
    underWay.set(view, request);
    app.routing(view, new http.ServerResponse(view));
  };
  const { connectMs, timers = systemTimers } = options;
  const parts = { address, connectMs, timers, usage, forward, report };
  const pool = new Pool({
    ...options,
    report,
    // The connection is reported at once, because undici connects only when it has a request to send.
    connect(owner, done) {
      const made = new ClientConnection(owner, parts);
      done(made);
      return () => made.close();
    },
  });
  return {
    send: pool.send.bind(pool),
    close() {
      pool.close();
      void app.close();
    },
  };
}

/** Stands in for undici's `request`, which @fastify/http-proxy calls to send a request. */
function dispatch(
  { headers }: { readonly headers: MarkedHeaders },
  done: (error: Error | null, response?: object) => void,
): void {
  headers[forwarded]?.dispatch(done);
}

/**
 * Creates the request that @fastify/http-proxy gets: the method, and nothing else that the client wrote. So neither the
 * parsers nor the path handling of @fastify/http-proxy can change anything. Its socket is never connected.
 */
function viewOf(method: string): IncomingMessage {
  return Object.assign(new http.IncomingMessage(new Socket()), { method, url: '/', headers: {} });
}
