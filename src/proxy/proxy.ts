import type { FastifyInstance } from 'fastify';
import type { Config } from '../config.ts';
import { trustedPeers } from '../http/trusted-peers.ts';
import type { Clock } from '../ports/clock.ts';
import type { Directory } from '../ports/directory.ts';
import type { Tracer } from '../ports/tracer.ts';
import type { UsageSink } from '../ports/usage.ts';
import { answerCleaner } from './headers/response-headers.ts';
import { Exchange } from './http-exchange.ts';
import { FailureLog } from './failure-log.ts';
import { takePlainRequests, type Checks } from './plain-requests.ts';
import type { RequestObserver } from '../ports/request-record.ts';
import { internalPath } from './ingress/ingress.ts';
import { headerRules } from './headers/header-rules.ts';
import { InFlight } from '../limits/concurrency.ts';
import { outboundHeaders } from './headers/request-headers.ts';
import type { Relay, RelayTools } from './route.ts';
import { Streams } from './active-exchanges.ts';
import { Upgrade } from './websocket/websocket-exchange.ts';
import { openUpstream, type Upstream } from './upstream/upstream.ts';
import { fastifyHttpProxy } from '@fastify/http-proxy';

/** What the gateway works with. */
export interface GatewayDeps {
  readonly config: Pick<Config, 'routes' | 'limits' | 'headers' | 'trustedProxies'>;
  readonly directory: Directory;
  readonly usage: UsageSink;
  readonly clock: Clock;
  readonly onFinished: RequestObserver;
  /** Left out: requests are not traced. */
  readonly tracer?: Tracer | null;
  /** Of the front door, and whatever else may refuse requests before they get here. */
  readonly checks: Checks;
  /** Where everything under way is kept; left out: nobody else looks. */
  readonly streams?: Streams;
  /** Where places are counted; left out: here alone. */
  readonly inFlight?: InFlight;
}

/** How often exchanges are looked at for a side that has fallen silent, at most. */
const checkEveryMs = 1000;

/**
 * Serves every path that is not the gateway's own: admits the request and relays it to its route's upstream.
 * A plugin for Fastify; {@link frontDoor} must be installed on the root before it.
 *
 * Requests are taken over in `onRequest`, before Fastify would parse a body or build an answer.
 */
export async function gateway(app: FastifyInstance, deps: GatewayDeps): Promise<void> {
  const { config, directory, clock } = deps;
  const { streams = new Streams(), inFlight = new InFlight(config.limits.inFlightPerTenant) } = deps;
  const tools: RelayTools = {
    directory,
    clock,
    usage: deps.usage,
    tracer: deps.tracer ?? null,
    onFinished: deps.onFinished,
    failures: new FailureLog(app.log, clock),
    names: config.headers,
    isTrusted: trustedPeers(config.trustedProxies),
    outbound: outboundHeaders(headerRules(config.headers), config.headers),
    answers: answerCleaner(config.headers),
    inFlight,
    streams,
    limits: config.limits,
  };
  const relays = config.routes.map((route): Relay => {
    const rules = { scopes: route.scopes, actingHeader: config.headers.acting };
    return { route, rules, upstream: openUpstream(route, clock), tools };
  });

  for (const [route, relay] of relays.entries()) {
    await app.register(async (scope) => mountRoute(scope, relay, internalPath({ kind: 'route', route })));
  }

  takePlainRequests(app, relays, deps.checks);
  const unfollow = streams.follow(directory);
  const waits = config.routes.flatMap(({ timeouts }) => [
    timeouts.connectMs,
    timeouts.headersMs,
    timeouts.bodyMs === 0 ? Infinity : timeouts.bodyMs,
  ]);
  const shortestMs = Math.min(config.limits.bodyIdleMs, ...waits);
  const everyMs = Math.max(20, Math.min(checkEveryMs, shortestMs / 4));
  const checking = setInterval(() => streams.check(clock.monotonicMs()), everyMs).unref();
  // The server waits for its connections; those of WebSockets do not end by themselves.
  app.addHook('preClose', async () => streams.goAway());
  app.addHook('onClose', async () => {
    clearInterval(checking);
    unfollow();
    for (const { upstream } of relays) upstream.close();
  });
}

async function mountRoute(scope: FastifyInstance, relay: Relay, path: string): Promise<void> {
  // A logger for each request would cost more than most of what is done for it; what is logged names the request.
  scope.setChildLoggerFactory((logger) => logger);
  await mountUpstream(scope, relay.upstream, path);
  scope.addHook('onRequest', ({ raw, id }, reply) => {
    reply.hijack();
    if (raw.upgrade) new Upgrade(relay, raw, reply.raw, id).start();
    else new Exchange(relay, raw, reply.raw, raw.url ?? '', id).start();
  });
}

/**
 * Mounts an upstream with @fastify/http-proxy at `path`: the methods that are forwarded become Fastify's routes.
 * Whatever has no hook before them that takes it over is refused: nothing is forwarded without a decision.
 */
export async function mountUpstream(scope: FastifyInstance, upstream: Upstream, path: string): Promise<void> {
  await scope.register(fastifyHttpProxy, {
    prefix: path,
    routes: ['/'],
    upstream: upstream.origin.origin,
    proxyPayloads: false,
    disableRequestLogging: true,
    preHandler: (_request, _reply, done) =>
      done(new Error('a request that was not admitted came to the proxy')),
  });
}
