import type { IncomingMessage } from 'node:http';
import Fastify, { LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import { admin } from './api/operator/admin.ts';
import { explainRoute, type Way } from './api/operator/explain.ts';
import { replicasRoute, type ReplicasDeps } from './api/operator/replicas.ts';
import type { Config } from './config.ts';
import { compileTargets } from './proxy/ingress/target.ts';
import { admit } from './authz/proxied-request.ts';
import { frontDoor } from './proxy/ingress/ingress.ts';
import { gateway, type GatewayDeps } from './proxy/proxy.ts';
import { serverOptions } from './http/server-options.ts';
import { installErrorReplies, replyToError } from './http/errors.ts';
import type { TypedApp } from './api/rest/typebox.ts';
import { requestIds } from './http/request-id.ts';
import { trustedPeers } from './http/trusted-peers.ts';
import { management } from './api/management.ts';
import { healthRoutes, type Unreadiness } from './ops/health.ts';
import type { Logger } from './ops/logger.ts';
import { metricsRoute } from './ops/metrics-route.ts';
import { noteKeyUse } from './api/key-use.ts';
import { observeReplies } from './ops/observe.ts';
import type { RequestObserver } from './ports/request-record.ts';
import { shedLoad } from './limits/load-shedding.ts';
import { traceReplies } from './ops/trace-replies.ts';
import type { Barrier } from './ports/barrier.ts';
import type { Clock } from './ports/clock.ts';
import type { Directory } from './ports/directory.ts';
import type { TenantStore } from './ports/tenant-store.ts';
import type { Tracer } from './ports/tracer.ts';
import type { UsageSink, UsageStore } from './ports/usage.ts';

/** What both listeners work with. Everything they do goes through these; nothing is global. */
export interface AppDeps extends ReplicasDeps {
  readonly config: Config;
  readonly directory: Directory;
  readonly barrier: Barrier;
  readonly tenants: TenantStore;
  readonly usage: Pick<UsageStore, 'report' | 'completeThrough'> & UsageSink;
  readonly clock: Clock;
  /** A cryptographic source. */
  readonly randomBytes: (size: number) => Buffer;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly observe: RequestObserver;
  /** `null` where requests are not traced. */
  readonly tracer: Tracer | null;
  /** What keeps this process from deciding; empty when it is ready. */
  readonly unready: () => readonly Unreadiness[];
}

const managementPrefix = '/v1/sub-accounts';

/**
 * The public listener's application. The order of registration is the security argument; each step may rely on the
 * ones before it.
 *
 * @throws where the configuration cannot be used; nothing is left behind then
 */
export async function publicServer(
  deps: AppDeps & Pick<GatewayDeps, 'streams' | 'inFlight'>,
): Promise<FastifyInstance> {
  const { config, observe } = deps;
  const newRequestId = requestIds(deps.randomBytes, trustedPeers(config.trustedProxies));
  const door = frontDoor(config);
  const app = Fastify({
    ...serverOptions(config.limits, () => newRequestId(nobody)),
    ...quiet(deps.logger),
    genReqId: newRequestId,
    // Routing goes by the target as the front door judged it, not as the client wrote it.
    rewriteUrl: door.rewriteUrl,
    frameworkErrors: replyToError,
    // While draining, requests that are already on an open connection are still served.
    return503OnClosing: false,
  });

  // 1. Whatever goes wrong below is answered by one function, with a problem body and the request's id.
  installErrorReplies(app);
  // 2. Whatever is answered below is logged and counted, refusals of the next two steps included.
  observeReplies(app, publicRouteName(config), observe);
  if (deps.tracer !== null) traceReplies(app, publicRouteName(config), deps.tracer);
  // 3. Before anybody looks at who calls: one path only, one framing only. A request that two readers could
  //    understand differently goes no further, so the steps below and the upstream read the same one.
  door.install(app);
  // 4. Refusing is cheap only before any work has been done.
  const shedding = shedLoad(app, config.limits);
  // 5. Management owns its prefix whole, with every method and every path under it, before there is a proxy that
  //    takes what nobody else does.
  app.register(async (scope) => {
    noteKeyUse(scope, deps.usage);
    await scope.register(management, { ...deps, prefix: managementPrefix });
  });
  // 6. Last, everything else: nothing gets to an upstream that the steps above have not let by, and nothing leaves
  //    here without a permit. Plain requests are judged by the same functions without Fastify around them, which takes
  //    whatever they object to.
  const checks = { routeOf: door.routeOf, shedding, newRequestId };
  app.register(gateway, { ...deps, onFinished: observe, checks });
  return made(app);
}

/** The internal listener's application: health and metrics for the platform, the operator API for whoever has its token. */
export async function internalServer(deps: AppDeps): Promise<FastifyInstance> {
  const { config, registry, unready, observe } = deps;
  const newRequestId = requestIds(deps.randomBytes, () => false);
  const app = Fastify({
    ...serverOptions(config.limits, () => newRequestId(nobody)),
    ...quiet(deps.logger),
    genReqId: newRequestId,
    frameworkErrors: replyToError,
    return503OnClosing: false,
  });

  installErrorReplies(app);
  // Probes and scrapes come every few seconds: they are not logged, and they ask for no token.
  healthRoutes(app, unready);
  metricsRoute(app, registry);
  app.register(async (scope) => {
    observeReplies(scope, (url) => url ?? 'none', observe);
    await scope.register(admin, {
      ...deps,
      prefix: '/admin/v1',
      more: (operator: TypedApp) => {
        explainRoute(operator, { ...deps, wayOf: waysOf(deps) });
        replicasRoute(operator, deps);
      },
    });
  });
  return made(app);
}

/** Lets everything that was registered begin; where something cannot, what began before it is ended again. */
async function made(app: FastifyInstance): Promise<FastifyInstance> {
  try {
    await app.ready();
    return app;
  } catch (error) {
    await app.close();
    throw error;
  }
}

/** Explains a path by the functions that judge and decide about real requests. */
function waysOf({ config: { routes, headers }, clock }: AppDeps): (path: string) => Way {
  const judgeTarget = compileTargets(routes.map(({ prefix }) => prefix));
  return (path) => {
    const target = judgeTarget(path);
    if (target.kind !== 'route') return target;
    const { prefix = '', scopes = { read: null, write: null } } = routes[target.route] ?? {};
    const rules = { scopes, actingHeader: headers.acting };
    return {
      kind: 'route',
      route: prefix,
      decide: (facts, claims) => admit(facts, claims, rules, clock.wallMs()),
    };
  };
}

/** Logging is ours: Fastify's own lines hold the query string, and cost a child logger each. */
function quiet(logger: FastifyBaseLogger) {
  const logController = new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' });
  return { loggerInstance: logger, logController };
}

/** Names routes in logs and metrics: templates and prefixes of the configuration, nothing a client wrote. */
function publicRouteName({ routes }: Config): (url: string | undefined) => string {
  return (url) => {
    if (url?.startsWith(managementPrefix)) return url;
    const index = url === undefined ? null : /^\/-\/route\/(\d+)/.exec(url);
    return (index && routes[Number(index[1])]?.prefix) ?? 'none';
  };
}

/** Stands for a request that never became one, where an id is needed all the same. */
const nobody = { rawHeaders: [], socket: {} } as unknown as IncomingMessage;
