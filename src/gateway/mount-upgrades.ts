import { connect as connectTcp, type NetConnectOpts, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import { fastifyHttpProxy, type FastifyHttpProxyOptions } from '@fastify/http-proxy';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ProblemError } from '../domain/problem.ts';
import type { Relay } from './relay.ts';
import { Upgrade, type WebSocketLike } from './upgrade.ts';
import type { Upstream } from './upstream.ts';

/** Decides about a request for a WebSocket and calls `done`, with a problem where there will be none. */
export type AdmitUpgrade = (request: FastifyRequest, done: (problem?: ProblemError) => void) => void;

/** The proxy's declarations leave out the option that says which headers an upstream gets. */
type WebSocketClientOptions = NonNullable<FastifyHttpProxyOptions['wsClientOptions']> & {
  readonly rewriteRequestHeaders: (
    headers: unknown,
    request: FastifyRequest,
  ) => Record<string, string | string[]>;
};

/** Longest message that goes through. */
const maxMessageBytes = 16 * 1024 * 1024;

/**
 * Mounts a route's upstream with @fastify/http-proxy, which carries its WebSockets. Plain requests never get to the
 * proxy's handler: they are taken over before.
 */
export async function mountUpgrades(
  scope: FastifyInstance,
  relay: Relay,
  path: string,
): Promise<AdmitUpgrade> {
  const { upstream } = relay;
  const byRequest = new WeakMap<FastifyRequest, Upgrade>();
  const byUpstreamEnd = new WeakMap<object, Upgrade>();
  // The proxy asks for headers and opens the connection in one go; this carries the upgrade from one to the other.
  let opening: Upgrade | undefined;

  const wsClientOptions: WebSocketClientOptions = {
    perMessageDeflate: false,
    maxPayload: maxMessageBytes,
    handshakeTimeout: relay.route.timeouts.headersMs,
    rewriteRequestHeaders: (_headers, request) => {
      opening = byRequest.get(request);
      // No Upgrade, no Permit, no request: whatever came here some other way goes nowhere.
      if (opening === undefined) throw new Error('an upgrade that was not admitted came to the proxy');
      return opening.headers();
    },
    createConnection: ((options: NetConnectOpts) => connectTo(upstream, options)) as typeof connectTcp,
    finishRequest: (handshake, upstreamEnd) => {
      if (opening === undefined) throw new Error('a handshake without an upgrade');
      byUpstreamEnd.set(upstreamEnd, opening);
      opening.finishRequest(handshake);
      opening = undefined;
    },
  };
  await scope.register(fastifyHttpProxy, {
    prefix: path,
    routes: ['/'],
    upstream: upstream.origin.origin,
    websocket: true,
    proxyPayloads: false,
    disableRequestLogging: true,
    // The proxy cuts its mount point off the path, so it is put in front of it first: the path stays as it came.
    preRewrite: (url) => path + url,
    wsServerOptions: { perMessageDeflate: false, maxPayload: maxMessageBytes },
    wsClientOptions,
    wsHooks: {
      onConnect: (_context, source, target) =>
        byUpstreamEnd.get(target)?.opened(source as WebSocketLike, target as WebSocketLike),
      onIncomingMessage: (_context, _source, target, { data }) =>
        byUpstreamEnd.get(target)?.passing('in', bytesOf(data)),
      onOutgoingMessage: (_context, _source, target, { data }) =>
        byUpstreamEnd.get(target)?.passing('out', bytesOf(data)),
    },
  });

  return (request, done) => {
    const upgrade = new Upgrade(relay, request.raw, request.id, done);
    byRequest.set(request, upgrade);
    upgrade.start();
  };
}

function connectTo({ socketPath, origin, tls }: Upstream, options: NetConnectOpts): Socket {
  if (socketPath !== null) return connectTcp(socketPath);
  const { host, port } = options as { host: string; port: number };
  if (origin.protocol !== 'https:') return connectTcp({ host, port });
  return connectTls({ host, port, ...tls, ALPNProtocols: ['http/1.1'] } satisfies ConnectionOptions);
}

function bytesOf(data: Buffer | ArrayBuffer | Buffer[]): number {
  return Array.isArray(data) ? data.reduce((sum, { length }) => sum + length, 0) : data.byteLength;
}
