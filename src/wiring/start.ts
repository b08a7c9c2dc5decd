import type { Config } from '../config.ts';
import { certificateMetrics, reloadMetrics } from '../ops/config-metrics.ts';
import type { Logger } from '../ops/logger.ts';
import { systemClock } from '../ports/clock.ts';
import { trafficMetrics } from '../ops/traffic-metrics.ts';
import type { Address } from '../server/acceptors.ts';
import type { WorkerGroup } from './worker-group.ts';
import { refuseTakenPrefix } from './key-prefix.ts';
import { openFigures } from './figures.ts';
import { usualPatience, type Patience } from './patience.ts';
import { openListeners } from './listeners.ts';
import { openServices } from './services.ts';
import { shutdownOrder, Stages, type Stage } from './stages.ts';
import type { Store } from './store.ts';

/** A gateway that is listening, but may not be ready yet. */
export interface RunningGateway {
  readonly config: Config;
  /** Whether requests go to the built-in echo, because no route is configured. */
  readonly hasEcho: boolean;
  readonly store: Store;
  readonly publicAddress: Address;
  readonly internalAddress: Address;
  /** `null` if there is no portal. */
  readonly portalAddress: Address | null;
  /** Resolves once the store has been reached and everything has started. */
  readonly begun: Promise<void>;
  /**
   * Switches to the configuration `wanted` for all further requests. Connections stay open, and active exchanges keep
   * the configuration they began with. A call during another reload waits for it to finish.
   *
   * @param agreed awaited right before the switch; if it rejects, the switch does not happen
   * @throws {NeedsRestart} or another error if `wanted` cannot be used; nothing has changed in that case
   */
  reload(wanted: Config, agreed?: () => Promise<void>): Promise<void>;
  /** Records the outcome of a reload in the metrics. */
  noteReload(successful: boolean): void;
  /** Closes every stage, in {@link shutdownOrder}. */
  stop(): Promise<void>;
}

/**
 * Starts the gateway: store, engine, listeners. The gateway begins to listen before it connects to the store. While
 * PostgreSQL cannot be reached, the gateway responds with 503 and keeps trying to connect.
 *
 * @param workers worker group that this process belongs to; `null` if it is the only process
 * @throws if the gateway cannot listen, or cannot lock the embedded store's directory; all opened stages are closed
 */
export async function startGateway(
  given: Config,
  logger: Logger,
  stages = new Stages<Stage>(shutdownOrder, (step, stage) => logger.debug({ stage }, step)),
  workers: WorkerGroup | null = null,
  patience: Patience = usualPatience,
): Promise<RunningGateway> {
  try {
    const services = await openServices(given, logger, stages, workers, patience);
    const listeners = await openListeners(services, stages, workers);
    const { applications, publicAddress, internalAddress, portalAddress, prepare } = listeners;
    certificateMetrics(services.registry, () => applications.config.certificates);
    trafficMetrics(services.registry, {
      connections: listeners.connections,
      underWay: () => applications.underWay(),
      held: listeners.held,
      ready: () => services.deps.unready().length === 0,
    });
    // With several workers, the primary reads the configuration and counts reloads.
    const noteReload = workers === null ? reloadMetrics(services.registry, systemClock) : () => undefined;
    await openFigures(services, listeners, stages);
    services.engine.start();
    return {
      get config() {
        return applications.config;
      },
      hasEcho: services.given.routes.length === 0,
      store: services.store,
      publicAddress,
      internalAddress,
      portalAddress,
      begun: services.engine.begun,
      reload: async (wanted, agreed) => {
        const { prefix } = wanted.keys;
        if (prefix !== applications.config.keys.prefix) await refuseTakenPrefix(services.store, prefix);
        return applications.reload(wanted, prepare, agreed);
      },
      noteReload,
      stop: () => stages.close(),
    };
  } catch (error) {
    await stages.close().catch(() => undefined);
    throw error;
  }
}
