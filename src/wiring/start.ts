import { randomBytes, randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { internalServer, publicServer, type AppDeps } from '../app.ts';
import { startCoherence } from '../coherence/coherence.ts';
import type { Config } from '../config.ts';
import { accessLog } from '../ops/access-log.ts';
import { coherenceMetrics } from '../ops/coherence-metrics.ts';
import { drainable } from '../ops/drain.ts';
import type { Unreadiness } from '../ops/health.ts';
import type { Logger } from '../ops/logger.ts';
import { createRegistry, gauge, requestMetrics } from '../ops/metrics.ts';
import type { RequestObserver } from '../ops/request-record.ts';
import { UsageRecorder } from '../ops/usage-recorder.ts';
import { systemClock } from '../ports/clock.ts';
import { systemTimers } from '../ports/timers.ts';
import { bringUp } from './bring-up.ts';
import { openCache } from './cache.ts';
import { withEcho } from './echo-route.ts';
import { lateCoherence } from './late-coherence.ts';
import { listen, type Address } from './listen.ts';
import { ensureOperatorToken } from './operator-token.ts';
import { openStore, type Store } from './store.ts';

/** A gateway that listens. It may not be ready yet. */
export interface RunningGateway {
  readonly config: Config;
  readonly store: Store;
  readonly publicAddress: Address;
  readonly internalAddress: Address;
  /** Resolves once the store is there and everything has begun. */
  readonly begun: Promise<void>;
  /** Lets go in order: unready, no new connections, what is in flight to its end, usage, lease, store. */
  stop(): Promise<void>;
}

/** Part of the time to drain that is kept for adding usage and giving the lease back. */
const finishShare = 0.2;

/**
 * Puts the process together: store and cache, coherence over them, usage, the two listeners. PostgreSQL may be away;
 * then it listens, answers 503 and keeps trying.
 *
 * @throws where it cannot listen, or the embedded store cannot be opened; nothing is left behind then
 */
export async function startGateway(given: Config, logger: Logger): Promise<RunningGateway> {
  const clock = systemClock;
  const timers = systemTimers;
  const opened: (() => Promise<unknown>)[] = [];
  try {
    const store = await openStore(given.store);
    opened.unshift(() => store.close());
    const { config, echo } = await withEcho(withOperatorToken(given));
    if (echo !== null) opened.unshift(() => echo.close());
    const registry = createRegistry();
    const coherence = lateCoherence();
    const events = coherenceMetrics(registry, () => coherence.snapshot());
    const cache = openCache(config.redisUrl, {
      clock,
      timers,
      onBreakerState: (state) => events.breakerState?.(state),
    });
    opened.unshift(() => cache.close());
    const usage = new UsageRecorder({ store: store.usage, clock, timers, logger, randomId: randomUUID });
    gauge(
      registry,
      'usage_lag_seconds',
      'Age of the oldest usage that is not in the store.',
      () => usage.lagMs() / 1000,
    );

    let draining = false;
    const starting = bringUp({
      store,
      // Nobody else can migrate a store that only this process may open.
      migrate: config.migrate || config.store.kind === 'embedded',
      alone: config.store.kind === 'embedded',
      timers,
      clock,
      logger,
      begin: async () => {
        await usage.begin();
        coherence.begin(
          startCoherence({
            log: store.log,
            source: store.facts,
            cache,
            clock,
            timers,
            config: config.coherence,
            logger,
            randomId: randomUUID,
            events,
          }),
        );
      },
    });
    opened.unshift(async () => starting.stop());

    const unready = (): Unreadiness[] => {
      const missing = starting.missing();
      return [
        ...(draining ? [drainingNow] : []),
        ...(missing !== null ? [missing] : coherence.ready() ? [] : [lapsed]),
      ];
    };
    const deps: AppDeps = {
      config,
      directory: coherence.directory,
      barrier: coherence.barrier,
      tenants: store.tenants,
      usage: {
        record: (event) => usage.record(event),
        touch: (accountId, keyId) => usage.touch(accountId, keyId),
        report: (parent, query) => store.usage.report(parent, query),
        completeThrough: () => store.usage.completeThrough(),
      },
      clock,
      randomBytes,
      logger,
      registry,
      observe: both(requestMetrics(registry), accessLog(logger)),
      unready,
    };
    const publicApp = await publicServer(deps);
    opened.unshift(() => publicApp.close());
    const internalApp = await internalServer(deps);
    opened.unshift(() => internalApp.close());
    const doors = [publicApp, internalApp].map((app: FastifyInstance) => drainable(app.server, timers));
    const internalAddress = await listen(internalApp, config.internal, 'internal');
    const publicAddress = await listen(publicApp, config.listen, 'public');

    return {
      config,
      store,
      publicAddress,
      internalAddress,
      begun: starting.done,
      stop: async () => {
        draining = true;
        starting.stop();
        const cut = await doors[0]?.drain(config.drainMs * (1 - finishShare));
        if (cut)
          logger.warn(
            { connections: cut },
            'connections were still open at the end of the drain, and were cut',
          );
        await usage.stop();
        await coherence.stop();
        // Up to here the platform could see that this process is unready, and why.
        await doors[1]?.drain(0);
        for (const close of opened) await close();
      },
    };
  } catch (error) {
    for (const close of opened) await close().catch(() => undefined);
    throw error;
  }
}

const drainingNow: Unreadiness = { reason: 'draining', detail: 'This process is about to end.' };
const lapsed: Unreadiness = {
  reason: 'lease_lapsed',
  detail: 'The lease ran out and cannot be renewed: the database does not answer.',
};

function withOperatorToken(config: Config): Config {
  const { internal, store } = config;
  if (internal.adminToken !== null || store.kind !== 'embedded') return config;
  return {
    ...config,
    internal: { ...internal, adminToken: ensureOperatorToken(store.dataDir, randomBytes) },
  };
}

function both(first: RequestObserver, second: RequestObserver | undefined): RequestObserver {
  if (second === undefined) return first;
  return (record) => {
    first(record);
    second(record);
  };
}
