import type { Config } from '../config.ts';
import { certificateMetrics, reloadMetrics } from '../ops/config-metrics.ts';
import type { Logger } from '../ops/logger.ts';
import { systemClock } from '../ports/clock.ts';
import { trafficMetrics } from '../ops/traffic-metrics.ts';
import type { Address } from '../server/listen.ts';
import type { Fleet } from './fleet.ts';
import { openListeners } from './listeners.ts';
import { openServices } from './services.ts';
import { shutdownOrder, Stages, type Stage } from './stages.ts';
import type { Store } from './store.ts';

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
   * @param agreed is awaited once `wanted` can be used and before it is; where it rejects, it is not
   * @throws {NeedsRestart} or whatever keeps `wanted` from being used; then everything goes on as it was
   */
  reload(wanted: Config, agreed?: () => Promise<void>): Promise<void>;
  /** Shows how an attempt to reload ended. */
  noteReload(successful: boolean): void;
  /** Closes every stage, in {@link shutdownOrder}. */
  stop(): Promise<void>;
}

/**
 * Puts the process together: the store, what decides over it, the two listeners. The store is looked for once these are open.
 * PostgreSQL may be away; then it listens, answers 503 and keeps trying.
 *
 * @param fleet where this process is one of several that share the listeners
 * @throws where it cannot listen, or the directory of the embedded store cannot be had; nothing is left behind then
 */
export async function startGateway(
  given: Config,
  logger: Logger,
  stages = new Stages<Stage>(shutdownOrder, (step, stage) => logger.debug({ stage }, step)),
  fleet: Fleet | null = null,
): Promise<RunningGateway> {
  try {
    const services = await openServices(given, logger, stages, fleet);
    const listeners = await openListeners(services, stages, fleet);
    const { applications, publicAddress, internalAddress, prepare } = listeners;
    certificateMetrics(services.registry, () => applications.config.certificates);
    trafficMetrics(services.registry, {
      connections: listeners.connections,
      underWay: () => applications.underWay(),
      ready: () => services.deps.unready().length === 0,
    });
    // Of several processes the primary reads the configuration.
    const noteReload = fleet === null ? reloadMetrics(services.registry, systemClock) : () => undefined;
    services.engine.start();
    return {
      get config() {
        return applications.config;
      },
      store: services.store,
      publicAddress,
      internalAddress,
      begun: services.engine.begun,
      reload: (wanted, agreed) => applications.reload(wanted, prepare, agreed),
      noteReload,
      stop: () => stages.close(),
    };
  } catch (error) {
    await stages.close().catch(() => undefined);
    throw error;
  }
}
