import { randomBytes } from 'node:crypto';
import type { AppDeps } from '../app.ts';
import type { Config } from '../config.ts';
import { InFlight } from '../limits/concurrency.ts';
import { accessLog } from '../ops/access-log.ts';
import { drainable } from '../server/drain.ts';
import type { Unreadiness } from '../ops/health.ts';
import type { Logger } from '../ops/logger.ts';
import { buildInfo, createRegistry, requestMetrics } from '../ops/metrics.ts';
import type { RequestObserver } from '../ports/request-record.ts';
import { systemClock } from '../ports/clock.ts';
import { systemTimers } from '../ports/timers.ts';
import { createListener } from '../server/listener.ts';
import { EchoRoute } from './echo-route.ts';
import { startEngine } from './engine.ts';
import { generation } from './generation.ts';
import { listen, type Address } from '../server/listen.ts';
import { ensureOperatorToken } from './operator-token.ts';
import { restartNeeded } from './restart-needed.ts';
import { openStore, type Store } from './store.ts';
import { openTracing } from './tracing.ts';
import { version } from './version.ts';

/** A gateway that listens. It may not be ready yet. */
export interface RunningGateway {
  readonly config: Config;
  readonly store: Store;
  readonly publicAddress: Address;
  readonly internalAddress: Address;
  /** Resolves once the store is there and everything has begun. */
  readonly begun: Promise<void>;
  /**
   * Decides and forwards by `wanted` from now on; open connections stay. What is under way ends by what it began with.
   * Called while another call is under way, it comes after it.
   *
   * @throws {NeedsRestart} or whatever keeps `wanted` from being used; then everything goes on as it was
   */
  reload(wanted: Config): Promise<void>;
  /** Lets go in order: unready; after `drainDelayMs` no new connections; what is in flight to its end; usage, lease, store. */
  stop(): Promise<void>;
}

/** A configuration that differs in what a running process cannot exchange. */
export class NeedsRestart extends Error {
  override readonly name = 'NeedsRestart';
}

/** Part of the time to drain that is kept for adding usage and giving the lease back. */
const finishShare = 0.2;

/**
 * Puts the process together: the store, what decides over it, the two listeners. PostgreSQL may be away; then it
 * listens, answers 503 and keeps trying.
 *
 * @throws where it cannot listen, or the embedded store cannot be opened; nothing is left behind then
 */
export async function startGateway(given: Config, logger: Logger): Promise<RunningGateway> {
  const [clock, timers] = [systemClock, systemTimers];
  /** How to let go of what is open; the last to open is the first to go. */
  const release: (() => unknown)[] = [];
  const releaseAll = async (): Promise<void> => {
    for (const one of release.splice(0).reverse()) await one();
  };
  try {
    const store = await openStore(given.store);
    release.push(() => store.close());
    const echo = new EchoRoute();
    release.push(() => echo.close());
    let config = await echo.into(withOperatorToken(given));
    const registry = createRegistry();
    buildInfo(registry, version());
    // Goes after the engine: usage and lease do not wait for a collector.
    const tracing = await openTracing(config, { clock, timers, logger });
    release.push(() => tracing?.close());
    const engine = startEngine({ config, store, clock, timers, logger, registry });
    release.push(() => engine.stop());

    let draining = false;
    const deps: AppDeps = {
      config,
      directory: engine.directory,
      barrier: engine.barrier,
      tenants: store.tenants,
      roster: store.roster,
      ownReplicaId: () => engine.replicaId(),
      usage: {
        record: (event) => engine.usage.record(event),
        touch: (accountId, keyId) => engine.usage.touch(accountId, keyId),
        report: (parent, query) => store.usage.report(parent, query),
        completeThrough: () => store.usage.completeThrough(),
      },
      clock,
      randomBytes,
      logger,
      registry,
      tracer: tracing?.tracer ?? null,
      observe: both(
        requestMetrics(registry),
        accessLog(logger, { sample: { share: config.log.sample2xx, random: Math.random } }),
      ),
      unready: () => [...(draining ? [drainingNow] : []), ...engine.unready()],
    };
    const inFlight = new InFlight(config.limits.inFlightPerTenant);
    let current = await generation({ ...deps, inFlight }, timers);
    const generations = new Set([current]);
    let reloading = Promise.resolve();
    const internalListener = createListener(current.internalApp, config.limits, null);
    const internalDrain = drainable(internalListener.server, timers);
    // Goes after the engine: until then the platform can see that this process is unready, and why.
    release.splice(2, 0, () => internalDrain.drain(0));
    const publicListener = createListener(current.publicApp, config.limits, config.listen.tls);
    const publicDrain = drainable(publicListener.server, timers);
    release.push(() => Promise.all([...generations].map((each) => each.close())));
    const internalAddress = await listen(internalListener.server, config.internal);
    logger.info(internalAddress, 'the internal listener is open');
    const publicAddress = await listen(publicListener.server, config.listen);
    logger.info(publicAddress, 'the public listener is open');

    async function exchange(wanted: Config): Promise<void> {
      const fixed = restartNeeded(given, wanted);
      if (fixed.length > 0) throw new NeedsRestart(`takes effect only with a restart: ${fixed.join('; ')}`);
      if (draining) throw new Error('this process is about to end');
      const next = await echo.into(withOperatorToken(wanted));
      const made = await generation({ ...deps, config: next, inFlight }, timers);
      try {
        publicListener.serve(made.publicApp, next.limits);
      } catch (error) {
        await made.close();
        throw error;
      }
      // From here on nothing can fail.
      internalListener.serve(made.internalApp, next.limits);
      inFlight.most = next.limits.inFlightPerTenant;
      const before = current;
      [current, config] = [made, next];
      generations.add(made);
      // Without waiting for it: a WebSocket may stay open for days.
      before.retire().then(
        () => generations.delete(before),
        (err: unknown) => logger.error({ err }, 'what a reload replaced could not be given up'),
      );
    }

    return {
      get config() {
        return config;
      },
      store,
      publicAddress,
      internalAddress,
      begun: engine.begun,
      reload: (wanted) => {
        const done = reloading.then(() => exchange(wanted));
        reloading = done.catch(() => undefined);
        return done;
      },
      stop: async () => {
        draining = true;
        engine.leave();
        await reloading;
        await new Promise<void>((resolve) => timers.after(config.drainDelayMs, resolve));
        for (const each of generations) each.goAway();
        const cut = await publicDrain.drain((config.drainMs - config.drainDelayMs) * (1 - finishShare));
        if (cut > 0)
          logger.warn({ connections: cut }, 'connections still open at the end of the drain were cut');
        await releaseAll();
      },
    };
  } catch (error) {
    await releaseAll().catch(() => undefined);
    throw error;
  }
}

const drainingNow: Unreadiness = { reason: 'draining', detail: 'This process is about to end.' };

function withOperatorToken(config: Config): Config {
  const { internal, store } = config;
  if (internal.adminToken !== null || store.kind !== 'embedded') return config;
  const adminToken = ensureOperatorToken(store.dataDir, randomBytes);
  return { ...config, internal: { ...internal, adminToken } };
}

function both(first: RequestObserver, second: RequestObserver | undefined): RequestObserver {
  if (second === undefined) return first;
  return (record) => {
    first(record);
    second(record);
  };
}
