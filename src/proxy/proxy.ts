import { credentialReader } from '../authz/authenticate.ts';
import { readerOfOthers } from '../authz/authorization-of-others.ts';
import type { Config } from '../config.ts';
import type { ClientRequest, ClientResponse } from '../http/client-request.ts';
import { guarded } from '../http/guarded.ts';
import { clientAddresses, trustedPeers } from '../http/trusted-proxies.ts';
import { checkEvery, systemTimers, type AllTimers } from '../ports/timers.ts';
import { FailureLog, type FailureLogger } from './failure-log.ts';
import { cachingOf } from './headers/caching.ts';
import { corsPolicy } from './headers/cors.ts';
import type { HeaderRules } from './headers/header-rules.ts';
import { outboundHeaders } from './headers/request-headers.ts';
import { responseHeaderFilter } from './headers/response-headers.ts';
import { HttpExchange } from './http-exchange.ts';
import type { RequestHead } from './ingress/framing.ts';
import { openRoute } from './open-route.ts';
import { ownFault } from './problems.ts';
import type { Route, RouteDeps } from './route.ts';
import { HandOvers } from './upstream/hand-overs.ts';
import { ReadBuffers } from './upstream/read-buffers.ts';
import { openUpstream } from './upstream/upstream.ts';
import { WebSocketExchange } from './websocket/websocket-exchange.ts';

/** Dependencies of the proxy. */
export interface ProxyDeps
  extends
    Pick<RouteDeps, 'directory' | 'usage' | 'lookup' | 'clock' | 'observe' | 'tracer' | 'exchanges'>,
    Pick<RouteDeps, 'concurrency' | 'shedding' | 'rateLimiter' | 'problemForm'> {
  readonly config: Pick<
    Config,
    'routes' | 'limits' | 'headers' | 'authentication' | 'trustedProxies' | 'keys' | 'usage'
  >;
  /** If omitted, the machine's. */
  readonly timers?: AllTimers;
  readonly logger: FailureLogger;
  readonly newRequestId: (request: ClientRequest) => string;
  /** Rules for client header names. The ingress uses the same rules. */
  readonly rules: HeaderRules;
}

/** Serves all paths except the gateway's own. */
export interface Proxy {
  /**
   * Serves a request until it is finished: decides whether to admit it, and sends it to its route's upstream.
   *
   * @param route index in the configuration's `routes`
   * @param head as read by the ingress
   * @param opensWebSocket whether the request opens a WebSocket
   */
  readonly take: (
    route: number,
    head: RequestHead,
    response: ClientResponse,
    opensWebSocket: boolean,
  ) => void;
  /** Closes all upstream connections, even those in use. */
  close(): Promise<void>;
}

/**
 * Interval in milliseconds at which the keys of active exchanges are recorded as in use. It keeps `last_used_at` less
 * than a minute behind (see the SQL function `usage_count`).
 */
const useNotedEveryMs = 20_000;

/** Maximum number of milliseconds between two checks for idle exchanges. */
const checkEveryMs = 1000;

/**
 * Opens the upstreams of all routes, and returns the proxy that serves the routes.
 *
 * @throws Error if a route's certificate or key file cannot be read
 */
export async function openProxy({
  config,
  directory,
  clock,
  timers = systemTimers,
  logger,
  newRequestId,
  problemForm,
  rules,
  ...deps
}: ProxyDeps): Promise<Proxy> {
  const failures = new FailureLog(logger, clock);
  // Logs an exception that belongs to no single exchange, such as one in a timer. The timer runs again as usual.
  const broke = (error: unknown): void =>
    failures.writeException(error, { route: null, requestId: null, code: ownFault.code });
  const shared: RouteDeps = {
    ...deps,
    directory,
    clock,
    timers,
    failures,
    handOvers: new HandOvers(deps.usage, broke),
    readBuffers: new ReadBuffers(),
    names: config.headers,
    isTrusted: trustedPeers(config.trustedProxies),
    addressOf: clientAddresses(config.trustedProxies),
    readCredentials: credentialReader(
      config.keys.prefix,
      config.headers.apiKey,
      config.authentication.schemes,
    ),
    readAuthorizationOfOthers: readerOfOthers(config.keys.prefix),
    outboundHeaders: outboundHeaders(rules, config.headers),
    limits: config.limits,
    problemForm,
  };
  const routes = await openRoutes(shared, config);
  const { exchanges } = deps;
  const unfollow = exchanges.follow(directory);
  const noteBytes = guarded({ broke }, () => exchanges.noteBytes());
  const check = guarded({ broke }, (nowMs: number) => exchanges.check(nowMs));
  const noteUse = guarded({ broke }, () => exchanges.noteUse());
  const uncollect = deps.usage.onCollect(noteBytes);
  const stopChecking = checkEvery(checkInterval(config), clock, check, timers);
  const stopNoting = timers.every(useNotedEveryMs, noteUse);

  return {
    take(index, head, response, opensWebSocket) {
      const route = routes[index] as Route;
      const Kind = opensWebSocket ? WebSocketExchange : HttpExchange;
      new Kind(route, response, newRequestId(response.request)).start(head);
    },
    close: async () => {
      stopChecking();
      stopNoting();
      // The lease is released after this, so that changes no longer wait for this replica.
      exchanges.endAll();
      unfollow();
      uncollect();
      for (const { upstream } of routes) upstream.close();
    },
  };
}

/** Opens all routes. If one cannot be opened, closes the rest and throws. */
async function openRoutes(
  deps: RouteDeps,
  { routes, headers, usage }: ProxyDeps['config'],
): Promise<Route[]> {
  const opened: Route[] = [];
  try {
    for (const config of routes) {
      const rules = { scopes: config.scopes, actingHeader: headers.acting };
      const { unitsHeader } = usage;
      const units = unitsHeader === null ? null : { name: unitsHeader, passes: config.passUnitsHeader };
      const caching = cachingOf(config, headers);
      opened.push({
        config,
        rules,
        open: config.open && openRoute(config.open.perSecond, deps.clock),
        cors: corsPolicy(config.cors),
        caching,
        responseHeaders: responseHeaderFilter(headers, units, caching),
        upstream: await openUpstream(config, deps),
        deps,
      });
    }
    return opened;
  } catch (error) {
    for (const { upstream } of opened) upstream.close();
    throw error;
  }
}

/**
 * Returns the milliseconds between two checks: a quarter of the shortest timeout, so that no timeout is exceeded by
 * much, but at least 20 and at most {@link checkEveryMs}.
 */
function checkInterval({ routes, limits }: ProxyDeps['config']): number {
  const waits = routes.flatMap(({ timeouts }) => [
    timeouts.connectMs,
    timeouts.headersMs,
    timeouts.bodyMs === 0 ? Infinity : timeouts.bodyMs,
  ]);
  const shortestMs = Math.min(limits.bodyIdleMs, ...waits);
  return Math.max(20, Math.min(checkEveryMs, shortestMs / 4));
}
