import { randomBytes } from 'node:crypto';
import type { Registry } from 'prom-client';
import type { AppDeps } from '../app.ts';
import { OperatorSessions } from '../api/operator/operator-sessions.ts';
import { SessionSecrets } from '../api/session-secrets.ts';
import { OperatorTokens } from '../api/operator/operator-tokens.ts';
import { TokenGuesses } from '../api/operator/token-guesses.ts';
import type { Config, OperatorToken } from '../config.ts';
import { usualOperator } from '../domain/operator-role.ts';
import { accessLog } from '../ops/access-log.ts';
import type { Logger } from '../ops/logger.ts';
import type { TailCollector } from '../ops/live/tail-collector.ts';
import { buildInfo, createRegistry } from '../ops/metrics.ts';
import {
  operatorRequestMetrics,
  lookupMetrics,
  portalRequestMetrics,
  requestMetrics,
  connectionWaitMetrics,
  tokenGuessMetric,
  type RequestMetrics,
} from '../ops/request-metrics.ts';
import { systemClock } from '../ports/clock.ts';
import type { RequestObserver } from '../ports/request-record.ts';
import { systemTimers, type Timers } from '../ports/timers.ts';
import { Names } from '../proxy/upstream/names.ts';
import { resolver } from '../proxy/upstream/resolver.ts';
import type { ConnectionWaits } from '../ports/connection-waits.ts';
import type { WorkerGroup } from './worker-group.ts';
import { EchoRoute } from './echo/echo-route.ts';
import { makeEngine, type Engine } from './engine.ts';
import { makeTails } from './live-tails.ts';
import { ensureOperatorToken } from './operator-token.ts';
import type { Patience } from './patience.ts';
import type { Stage, Stages } from './stages.ts';
import { measured, openStore, type Store } from './store.ts';
import { openTracing } from './tracing.ts';
import { version } from './version.ts';

type Observers = Pick<AppDeps, 'observe' | 'observeOperator' | 'observePortal'>;
type Sessions = Pick<AppDeps, 'sessionSecrets' | 'operatorSessions'>;

/** The open services that the listeners need. */
export interface Services {
  /** Configuration as it was read, without the additions of {@link complete}. */
  readonly given: Config;
  /**
   * Adds the echo upstream if the configuration has no routes, and the embedded store's operator token if none is set.
   */
  readonly complete: (read: Config) => Promise<Config>;
  readonly store: Store;
  readonly engine: Engine;
  /** Dependencies of the applications, with a complete configuration. */
  readonly deps: Omit<AppDeps, keyof Observers>;
  /** Makes the request observers for a configuration. */
  readonly observersOf: (config: Config) => Observers;
  /** Collects requests for open tails. */
  readonly collector: TailCollector;
  /** Reads the counts of the requests to the public listener. */
  readonly traffic: RequestMetrics['read'];
  /** The tokens in force, which a reload replaces. */
  readonly operatorTokens: OperatorTokens;
  readonly timers: Timers;
  /** Metrics of this process only. */
  readonly registry: Registry;
  /** Returns the observer of requests that wait for an upstream connection, for the route with this prefix. */
  readonly waitsOf: (prefix: string) => ConnectionWaits;
}

/** Opens the services behind the listeners: the store, the echo upstream, tracing and the engine. */
export async function openServices(
  given: Config,
  logger: Logger,
  stages: Stages<Stage>,
  workers: WorkerGroup | null,
  patience: Patience,
): Promise<Services> {
  const [clock, timers, registry] = [systemClock, systemTimers, createRegistry()];
  const opened = await stages.open(
    'store',
    () => openStore(given, logger, patience.deadlines),
    (store) => store.close(),
  );
  const store = measured(opened, registry, clock);
  const echo = await stages.open(
    'echo',
    () => new EchoRoute(),
    (echo) => echo.close(),
  );
  const complete = (read: Config): Promise<Config> => echo.into(withOperatorToken(read));
  const config = await complete(given);
  buildInfo(registry, version());
  const { lookup } = namesBy(logger, registry);
  const tracing = await stages.open(
    'tracing',
    () => openTracing(config, { clock, timers, logger, lookup }),
    (tracing) => tracing?.close(),
  );
  const engine = await stages.open(
    'engine',
    () => makeEngine({ config, store, clock, timers, logger, registry, patience, lookup }),
    (engine) => engine.stop(),
  );
  const operatorTokens = new OperatorTokens(config.operators);
  const { collector, liveTails } = makeTails(store, engine, timers);
  const deps: Services['deps'] = {
    ...store,
    config,
    operatorTokens,
    ...sessionsOf(store, operatorTokens),
    tokenGuesses: new TokenGuesses({ clock, timers, count: tokenGuessMetric(registry) }),
    directory: engine.directory,
    barrier: engine.barrier,
    liveTails,
    version: version(),
    ownReplicaId: () => engine.replicaId(),
    factsAge: () => engine.factsAge(),
    usageReplay: engine.usageReplay,
    ...{ counting: engine.usage, rateLimiter: engine.limiter, lookup },
    clock: engine.clock,
    randomBytes,
    logger,
    registry: workers?.metrics(registry) ?? registry,
    tracer: tracing?.tracer ?? null,
    unready: workers?.unready(() => engine.unready()) ?? (() => engine.unready()),
  };
  const made = { given, complete, store, engine, deps, operatorTokens, timers, registry, collector };
  return { ...made, waitsOf: connectionWaitMetrics(registry), ...observers(registry, logger, collector) };
}

function namesBy(logger: Logger, registry: Registry): Names {
  const report = (err: unknown): void => logger.error({ err }, 'an exception ended a look-up of a name');
  const observe = lookupMetrics(registry);
  return new Names({ resolve: resolver(systemTimers), clock: systemClock, observe, report });
}

/** Makes the request observers: metrics, if configured the access log, and open tails. */
function observers(
  registry: Registry,
  logger: Logger,
  tails: TailCollector,
): Pick<Services, 'observersOf' | 'traffic'> {
  const { observe, read: traffic } = requestMetrics(registry);
  const operatorMetrics = operatorRequestMetrics(registry);
  const portalMetrics = portalRequestMetrics(registry);
  const observersOf: Services['observersOf'] = ({ trustedProxies, authentication, headers, log }) => {
    const sample = { share: log.sample2xx, random: Math.random };
    const { schemes } = authentication;
    const logged = accessLog(logger, { trustedProxies, schemes, keyHeaders: headers.apiKey, sample });
    return {
      observe: tailed(observe, logged, tails),
      observeOperator: both(operatorMetrics, logged),
      observePortal: both(portalMetrics, logged),
    };
  };
  return { observersOf, traffic };
}

/** Measures, logs, and shows requests to open tails. Without a tail, a request pays for one comparison. */
function tailed(
  measure: RequestObserver,
  log: RequestObserver | undefined,
  tails: Pick<TailCollector, 'open' | 'note'>,
): RequestObserver {
  return (record) => {
    measure(record);
    log?.(record);
    if (tails.open !== null) tails.note(record);
  };
}

function sessionsOf({ portalSessions, operatorSessions: store }: Store, tokens: OperatorTokens): Sessions {
  const secrets = new SessionSecrets({ portalSessions, clock: systemClock, randomBytes });
  return { sessionSecrets: secrets, operatorSessions: new OperatorSessions({ store, tokens, secrets }) };
}

function withOperatorToken(config: Config): Config {
  const { operators, store } = config;
  const isUsual = ({ operator }: OperatorToken): boolean => operator === usualOperator;
  if (store.kind !== 'embedded' || operators.some(isUsual)) return config;
  const token = ensureOperatorToken(store.dataDir, randomBytes);
  return { ...config, operators: [{ operator: usualOperator, token, role: 'admin' }, ...operators] };
}

function both(first: RequestObserver, second: RequestObserver | undefined): RequestObserver {
  if (second === undefined) return first;
  return (record) => {
    first(record);
    second(record);
  };
}
