import { TenantConcurrency } from '../limits/concurrency.ts';
import type { Logger } from '../ops/logger.ts';
import type { Timers } from '../ports/timers.ts';
import { drainable, type Drainable } from '../server/drain.ts';
import { listen, type Address } from '../server/listen.ts';
import { createListener, type Listener } from '../server/listener.ts';
import { Applications, type Switch } from './applications.ts';
import type { WorkerGroup } from './worker-group.ts';
import { generation } from './generation.ts';
import type { Services } from './services.ts';
import type { Stage, Stages } from './stages.ts';

/** The open public and internal listeners, and the applications that they serve. */
export interface OpenListeners {
  readonly applications: Applications;
  readonly publicAddress: Address;
  readonly internalAddress: Address;
  /** For each listener, a function that returns the number of its open connections. */
  readonly connections: Readonly<Record<'public' | 'internal', () => number>>;
  /**
   * Prepares both listeners for new applications.
   *
   * @returns function that switches the listeners to the applications it is given
   * @throws if a certificate cannot be used; nothing has changed in that case
   */
  readonly prepare: () => Switch;
}

/** Fraction of the drain time that is reserved for storing usage and releasing the lease. */
const finishShare = 0.2;

/** Makes the applications and opens the listeners that serve them. */
export async function openListeners(
  services: Services,
  stages: Stages<Stage>,
  workers: WorkerGroup | null,
): Promise<OpenListeners> {
  const { given, complete, deps, observersOf, timers, engine, waitsOf } = services;
  const { config, logger } = deps;
  // All generations share this object, so that tenants get no extra slots during a reload.
  const concurrency = new TenantConcurrency(config.limits, waitsOf);
  const applications = await stages.open(
    'applications',
    () => {
      const make = (config: typeof given) =>
        generation({ ...deps, config, ...observersOf(config), concurrency }, timers);
      return Applications.open(config, { given, complete, make, logger });
    },
    (applications) => applications.close(),
  );

  const { publicApp, internalApp } = applications.current;
  const internalListener = createListener(internalApp, config.limits, null);
  const publicListener = createListener(publicApp, config.limits, config.listen.tls);
  for (const { server } of [internalListener, publicListener]) workers?.control(server);
  const { address: internalAddress, connections: internalConnections } = await stages.open(
    'internal listener',
    () => opened(internalListener, config.internal, timers),
    ({ drain }) => drain({ limitMs: 0, idleMs: 0 }),
  );
  logger.info(internalAddress, 'the internal listener is open');
  const { address: publicAddress, connections: publicConnections } = await stages.open(
    'public listener',
    () => opened(publicListener, config.listen, timers),
    (listener) => drained(listener, applications, logger),
  );
  logger.info(publicAddress, 'the public listener is open');
  await stages.open(
    'readiness',
    () => undefined,
    async () => {
      engine.leave(applications.config.drainMs);
      await applications.endReloads();
      const { drainDelayMs } = applications.config;
      if (drainDelayMs > 0) await new Promise<void>((resolve) => void timers.after(drainDelayMs, resolve));
    },
  );

  return {
    applications,
    publicAddress,
    internalAddress,
    connections: { public: publicConnections, internal: internalConnections },
    prepare: () => {
      const [servePublic, serveInternal] = [publicListener.prepare(), internalListener.prepare()];
      return (made, { limits, operators }) => {
        servePublic(made.publicApp, limits);
        serveInternal(made.internalApp, limits);
        concurrency.limits = limits;
        services.operatorTokens.replace(operators);
      };
    },
  };
}

/** Drains the public listener within the times set by the current configuration. */
async function drained({ drain }: Drainable, applications: Applications, logger: Logger): Promise<void> {
  const { drainMs, drainDelayMs, drainIdleMs } = applications.config;
  const limitMs = (drainMs - drainDelayMs) * (1 - finishShare);
  const goAway = (): void => applications.goAway();
  goAway();
  // `onRefusing` calls `goAway` again, because clients may have opened WebSockets since the first call.
  const cut = await drain({ limitMs, idleMs: Math.min(drainIdleMs, limitMs / 2), onRefusing: goAway });
  if (cut > 0) logger.warn({ connections: cut }, 'connections still open at the end of the drain were cut');
}

async function opened(
  listener: Listener,
  at: Address,
  timers: Timers,
): Promise<Drainable & { readonly address: Address }> {
  const ended = drainable(listener, timers);
  return { ...ended, address: await listen(listener.server, at) };
}
