import Fastify, { type FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import { noteKeyUse } from './api/guard.ts';
import { management } from './api/management.ts';
import type { FindOperation } from './api/operations.ts';
import { admin } from './api/operator/admin.ts';
import type { AdminDeps } from './api/operator/deps.ts';
import type { ExplainDeps } from './api/explain/explain.ts';
import type { DestinationOf } from './api/explain/explanation.ts';
import type { LiveDeps } from './api/operator/live.ts';
import type { OperatorApp } from './api/operator/operator-token.ts';
import { ownRoutes } from './api/operator/own-routes.ts';
import type { ReplicasDeps } from './api/operator/replicas.ts';
import type { WhoamiDeps } from './api/operator/whoami.ts';
import { portalApi, type PortalApiDeps } from './api/portal/portal-api.ts';
import { operatorReference, parentReference } from './api/reference/reference.ts';
import type { Config, RouteConfig } from './config.ts';
import { consoleRoutes } from './console/console.ts';
import { challengesOf } from './domain/authorization.ts';
import { managementPath, operatorPath } from './domain/paths.ts';
import { rawProblems } from './http/raw-problem.ts';
import { installErrorReplies, problemOf, replyToError } from './http/errors.ts';
import { notFound } from './http/not-found.ts';
import { usualProblemForm } from './http/problem-body.ts';
import { fastifyOptions, quiet } from './http/fastify-options.ts';
import { clientAddresses, requestIds, trustedPeers } from './http/trusted-proxies.ts';
import { shedAll, shedLoad, shedStrangers, type Pressure, type Shedding } from './limits/load-shedding.ts';
import { healthRoutes, type Unreadiness } from './ops/health.ts';
import type { Logger } from './ops/logger.ts';
import { metricsRoute } from './ops/metrics-route.ts';
import { observeReplies } from './ops/observe.ts';
import { traceReplies } from './ops/trace-replies.ts';
import type { Barrier } from './ports/barrier.ts';
import type { Clock } from './ports/clock.ts';
import type { Directory } from './ports/directory.ts';
import type { EventStore } from './ports/events.ts';
import type { RateLimiter } from './ports/limits/rate-limiter.ts';
import type { PortalSessionStore } from './ports/portal-sessions.ts';
import type { RequestObserver } from './ports/request-record.ts';
import type { Imports } from './ports/imports.ts';
import type { Plans } from './ports/plans.ts';
import type { TenantStore } from './ports/tenant-store.ts';
import type { AllTimers } from './ports/timers.ts';
import type { Tracer } from './ports/tracer.ts';
import type { UsageSink } from './ports/usage.ts';
import type { UsageReplay } from './ports/usage/replay.ts';
import { portalPage } from './portal/portal-page.ts';
import { cachingOf } from './proxy/headers/caching.ts';
import { corsPolicy } from './proxy/headers/cors.ts';
import { headerRules } from './proxy/headers/header-rules.ts';
import { dispatcher, ingressReader, type IngressReader } from './proxy/ingress/ingress.ts';
import { sendContinue } from './http/expect-continue.ts';
import { rejecter } from './proxy/ingress/reject.ts';
import { targetNames, type Target } from './proxy/ingress/target.ts';
import { openProxy, type ProxyDeps } from './proxy/proxy.ts';
import type { Application } from './server/served.ts';

/** Dependencies of the applications. No application uses global state. */
export interface AppDeps
  extends
    ReplicasDeps,
    WhoamiDeps,
    Pick<ExplainDeps, 'factsAge'>,
    Pick<LiveDeps, 'liveTails'>,
    Pick<PortalApiDeps, 'sessionSecrets'>,
    Pick<ProxyDeps, 'lookup'>,
    Pick<AdminDeps, 'operatorTokens' | 'operatorSessions' | 'tokenGuesses'> {
  readonly config: Config;
  readonly directory: Directory;
  readonly barrier: Barrier;
  /** Limits requests per key and per account. */
  readonly rateLimiter: RateLimiter;
  readonly tenants: TenantStore & Imports & Plans;
  readonly portalSessions: PortalSessionStore;
  readonly events: Pick<EventStore, 'list' | 'get'>;
  readonly erasures: AdminDeps['erasures'];
  readonly usage: AdminDeps['usage'];
  /** Re-exports the usage of past hours; `null` if usage is not exported. */
  readonly usageReplay: UsageReplay | null;
  /** Counts requests. */
  readonly counting: UsageSink;
  readonly clock: Clock;
  /** If omitted, the machine's. */
  readonly timers?: AllTimers;
  /** Cryptographically secure source of random bytes. */
  readonly randomBytes: (size: number) => Buffer;
  readonly logger: Logger;
  readonly registry: Pick<Registry, 'metrics' | 'contentType'>;
  /** Observes requests to the public listener. */
  readonly observe: RequestObserver;
  /** Observes requests to the operator API. */
  readonly observeOperator: RequestObserver;
  /** Observes requests to the portal's listener. */
  readonly observePortal: RequestObserver;
  /** `null` if requests are not traced. */
  readonly tracer: Tracer | null;
  /** Returns the process's load. If omitted, the application measures the load itself. */
  readonly pressure?: () => Pressure;
  /** Returns the reasons why this process should get no requests; an empty list if it is ready. */
  readonly unready: () => readonly Unreadiness[];
}

/** An application for a listener. */
export interface ServedApplication extends Application {
  /** Closes everything the application holds open, including connections to upstreams. */
  close(): Promise<void>;
}

/** The public listener's application. */
export interface PublicApplication extends ServedApplication {
  /** Finds the destination of a request with the same functions that route real requests. */
  readonly destinationOf: DestinationOf;
  /** Decides for the portal too, so that a flood there is not taken for one here. */
  readonly shedding: Shedding;
}

/**
 * Builds the public listener's application. Its security depends on the order of the steps: each step may rely on the
 * ones before it. The function is unusually long so that the order can be read in one place.
 *
 * @throws if the configuration cannot be used; everything that this call has opened is closed first
 */
// eslint-disable-next-line max-lines-per-function -- the order of the steps is read in one place
export async function publicServer(
  deps: AppDeps & Pick<ProxyDeps, 'exchanges' | 'concurrency'>,
): Promise<PublicApplication> {
  const { config, clock, logger, observe, tracer } = deps;
  const newRequestId = requestIds(deps.randomBytes, trustedPeers(config.trustedProxies));

  // 1. Before authentication, the ingress rejects any request whose path or framing two servers could interpret
  // differently, so that all later steps and the upstream see the same request.
  const rules = headerRules(config.headers);
  const ingress = ingressReader(config, rules);
  const nameOf = targetNames(config.routes.map((route) => route.prefix));
  const routes = config.routes.map((route) => ({
    cors: corsPolicy(route.cors),
    caching: cachingOf(route, config.headers),
  }));
  const rulesOf = (target: Target) => (target.kind === 'route' ? routes[target.route] : undefined);
  const { typeBase } = config.problems;
  const problemForm = { typeBase, challenges: challengesOf(config.authentication.schemes) };
  const reject = rejecter({ clock, newRequestId, problemForm, observe, tracer, nameOf, rulesOf });

  // 2. Management handles every method and every path under its prefix. The ingress makes sure that the proxy gets no
  // request whose path could be read as a path under that prefix.
  const app = instance(config, logger, newRequestId);
  // Every error in `app` becomes a problem body with the request's id, and is logged and counted.
  installErrorReplies(app, problemForm);
  observeReplies(app, (url) => url ?? 'none', observe);
  if (tracer !== null) traceReplies(app, (url) => url ?? 'none', tracer);
  // 3. Load is shed before any work is done, because only then is a rejection cheap.
  const shedding = shedLoad(app, config.limits, deps.pressure, deps.timers);
  continueBeforeBodies(app);
  let findOperation: FindOperation = unknownOperation;
  const destinationOf = destinations(config, ingress, (method, path) => findOperation(method, path));
  // The API reference is public, so it is registered outside the plugin that requires a key.
  if (config.reference.enabled)
    app.register(async (open) => {
      shedStrangers(open, shedding, config.trustedProxies);
      await open.register(parentReference, { ...config, prefix: managementPath });
    });
  app.register(async (scope) => {
    noteKeyUse(scope, deps.counting);
    const onOperations = (find: FindOperation): void => void (findOperation = find);
    await scope.register(management, {
      ...deps,
      shedding,
      onOperations,
      destinationOf,
      prefix: managementPath,
    });
  });
  await made(app);

  // 4. All other requests go to the proxy. The proxy forwards only requests with a permit; without one,
  // only to open routes, and CORS preflights.
  const proxy = await openProxy({
    ...deps,
    usage: deps.counting,
    shedding,
    newRequestId,
    problemForm,
    rules,
  }).catch(async (error: unknown) => {
    await app.close();
    throw error;
  });

  return {
    request: dispatcher({
      ingress,
      shedding,
      reject,
      management: (request) => request.serveByNode((message, reply) => app.routing(message, reply)),
      proxy: proxy.take,
      broke: broken(logger),
    }),
    rawProblem: rawProblems(newRequestId, typeBase),
    addressOf: clientAddresses(config.trustedProxies),
    broke: broken(logger),
    isTrusted: trustedPeers(config.trustedProxies),
    shedding,
    destinationOf,
    close: async () => {
      // WebSockets do not end on their own, and neither of the two `close` calls below ends them.
      deps.exchanges.goAway();
      await app.close();
      await proxy.close();
    },
  };
}

/** Builds the internal listener's application: health and metrics without a token, the operator API with one. */
export async function internalServer(
  deps: AppDeps & Pick<PublicApplication, 'destinationOf' | 'shedding'>,
): Promise<ServedApplication> {
  const { config, registry, unready, observeOperator } = deps;
  const newRequestId = requestIds(deps.randomBytes, () => false);
  const app = instance(config, deps.logger, newRequestId);

  installErrorReplies(app, { ...usualProblemForm, typeBase: config.problems.typeBase });
  continueBeforeBodies(app);
  // Probes and scrapes arrive every few seconds, so they are not logged. They need no token.
  healthRoutes(app, unready);
  metricsRoute(app, registry);
  app.register(async (scope) => {
    observeReplies(scope, (url) => url ?? 'none', observeOperator);
    if (config.operators.length > 0)
      await scope.register(async (open) => {
        shedStrangers(open, deps.shedding, []);
        await open.register(operatorReference, { ...config, prefix: operatorPath });
        await open.register(consoleRoutes);
      });
    await scope.register(admin, {
      ...deps,
      prefix: operatorPath,
      more: (operator: OperatorApp) => ownRoutes(operator, deps),
    });
  });
  await made(app);
  return {
    request: (request) => request.serveByNode((message, reply) => app.routing(message, reply)),
    rawProblem: rawProblems(newRequestId, config.problems.typeBase),
    addressOf: clientAddresses([]),
    broke: broken(deps.logger),
    isTrusted: trustedPeers(config.trustedProxies),
    close: () => app.close(),
  };
}

/**
 * Builds the portal listener's application: its page, and an API for sessions below `/api`. Nothing else can be reached
 * there, and no request goes to an upstream.
 */
export async function portalServer(
  deps: AppDeps & { readonly portal: NonNullable<Config['portal']> } & Pick<PublicApplication, 'shedding'> &
    Pick<ProxyDeps, 'concurrency'>,
): Promise<ServedApplication> {
  const { config, shedding } = deps;
  const newRequestId = requestIds(deps.randomBytes, trustedPeers(config.trustedProxies));
  const app = instance(config, deps.logger, newRequestId);
  installErrorReplies(app, { ...usualProblemForm, typeBase: config.problems.typeBase });
  observeReplies(app, (url) => url ?? 'none', deps.observePortal);
  shedAll(app, shedding);
  // No session is known before the store is asked, so every request is a stranger's.
  shedStrangers(app, shedding, config.trustedProxies);
  continueBeforeBodies(app);
  app.register(portalPage, deps);
  app.register(portalApi, { ...deps, prefix: '/api' });
  await made(app);
  return {
    request: (request) => request.serveByNode((message, reply) => app.routing(message, reply)),
    rawProblem: rawProblems(newRequestId, config.problems.typeBase),
    addressOf: clientAddresses(config.trustedProxies),
    broke: broken(deps.logger),
    isTrusted: trustedPeers(config.trustedProxies),
    close: () => app.close(),
  };
}

function instance(
  { limits }: Config,
  logger: Logger,
  genReqId: ReturnType<typeof requestIds>,
): FastifyInstance {
  const options = { ...fastifyOptions(limits), ...quiet(logger), genReqId, frameworkErrors: replyToError };
  // Requests on open connections are still served while draining.
  return Fastify({ ...options, return503OnClosing: false });
}

/** Sends `100 Continue` to a client that waits for it, once its body is wanted. */
function continueBeforeBodies(app: FastifyInstance): void {
  app.addHook('preParsing', (request, _reply, payload, done) => {
    sendContinue(request.raw);
    done(null, payload);
  });
}

/** Starts the registered plugins. If one fails, closes the ones already started. */
async function made(app: FastifyInstance): Promise<void> {
  try {
    await app.ready();
  } catch (error) {
    await app.close();
    throw error;
  }
}

/** Returns a function that logs exceptions that end a request or its connection. */
function broken(logger: Logger): Application['broke'] {
  return (error) => logger.error({ err: error }, 'an exception ended a connection');
}

/**
 * Makes the function that finds the destination of a request without sending the request. The function follows the
 * rules of the dispatcher.
 */
function destinations(
  { routes, headers }: Config,
  { targetOf }: IngressReader,
  findOperation: FindOperation,
): DestinationOf {
  return (method, path) => {
    const target = targetOf(path);
    if (target.kind === 'management') {
      const found = findOperation(method, path);
      return found === null ? { kind: 'rejected', problem: notUtf8 } : { kind: 'management', ...found };
    }
    if (target.kind !== 'route') return target;
    const { prefix, scopes, open } = routes[target.route] as RouteConfig;
    if (open !== null) return { kind: 'open', prefix };
    return { kind: 'route', prefix, rules: { scopes, actingHeader: headers.acting } };
  };
}

/** Problem for a path that is not UTF-8, which the management API's router rejects. */
const notUtf8 = problemOf({ code: 'FST_ERR_BAD_URL' });

const unknownOperation: FindOperation = () => ({ operation: { rejection: notFound }, parameters: {} });
