import { randomBytes } from 'node:crypto';
import { internalServer, publicServer, type AppDeps } from '../app.ts';
import type { Config } from '../config.ts';
import { accessLog } from '../ops/access-log.ts';
import { drainable } from '../ops/drain.ts';
import type { Unreadiness } from '../ops/health.ts';
import type { Logger } from '../ops/logger.ts';
import { buildInfo, createRegistry, requestMetrics } from '../ops/metrics.ts';
import type { RequestObserver } from '../ops/request-record.ts';
import { systemClock } from '../ports/clock.ts';
import { systemTimers } from '../ports/timers.ts';
import { withEcho } from './echo-route.ts';
import { startEngine } from './engine.ts';
import { listen, type Address } from './listen.ts';
import { ensureOperatorToken } from './operator-token.ts';
import { openStore, type Store } from './store.ts';
import { version } from './version.ts';

/** A gateway that listens. It may not be ready yet. */
export interface RunningGateway {
  readonly config: Config;
  readonly store: Store;
  readonly publicAddress: Address;
  readonly internalAddress: Address;
  /** Resolves once the store is there and everything has begun. */
  readonly begun: Promise<void>;
  /** Lets go in order: unready; after `drainDelayMs` no new connections; what is in flight to its end; usage, lease, store. */
  stop(): Promise<void>;
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
    const { config, echo } = await withEcho(withOperatorToken(given));
    release.push(() => echo?.close());
    const registry = createRegistry();
    buildInfo(registry, version());
    const engine = startEngine({ config, store, clock, timers, logger, registry });
    release.push(() => engine.stop());

    let draining = false;
    const deps: AppDeps = {
      config,
      directory: engine.directory,
      barrier: engine.barrier,
      tenants: store.tenants,
      roster: store.roster,
      ownReplicaId: engine.replicaId,
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
      observe: both(requestMetrics(registry), accessLog(logger)),
      unready: () => [...(draining ? [drainingNow] : []), ...engine.unready()],
    };
    const internalApp = await internalServer(deps);
    const internalDoor = drainable(internalApp.server, timers);
    // Goes after the engine: until then the platform can see that this process is unready, and why.
    release.splice(2, 0, () => internalDoor.drain(0).then(() => internalApp.close()));
    const publicApp = await publicServer(deps);
    const publicDoor = drainable(publicApp.server, timers);
    release.push(() => publicApp.close());
    const internalAddress = await listen(internalApp, config.internal, 'internal');
    const publicAddress = await listen(publicApp, config.listen, 'public');

    return {
      config,
      store,
      publicAddress,
      internalAddress,
      begun: engine.begun,
      stop: async () => {
        draining = true;
        engine.leave();
        await new Promise<void>((resolve) => timers.after(config.drainDelayMs, resolve));
        const cut = await publicDoor.drain((config.drainMs - config.drainDelayMs) * (1 - finishShare));
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
