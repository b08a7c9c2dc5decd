import type { Config } from '../config.ts';
import { TenantConcurrency } from '../limits/concurrency.ts';
import { HeldBytes } from '../limits/held-bytes.ts';
import type { Logger } from '../ops/logger.ts';
import { closingMetrics } from '../ops/traffic-metrics.ts';
import type { Timers } from '../ports/timers.ts';
import type { ClosedForRoom } from '../server/connection-places.ts';
import { drainable, type Drainable } from '../server/drain.ts';
import type { Address } from '../server/acceptors.ts';
import { createListener, type Listener } from '../server/listener.ts';
import type { Application } from '../server/served.ts';
import { Applications, type Switch } from './applications.ts';
import type { WorkerGroup } from './worker-group.ts';
import { generation } from './generation.ts';
import type { Services } from './services.ts';
import type { Stage, Stages } from './stages.ts';

/** The open listeners, and the applications that they serve. */
export interface OpenListeners {
  readonly applications: Applications;
  readonly publicAddress: Address;
  readonly internalAddress: Address;
  /** `null` if there is no portal. */
  readonly portalAddress: Address | null;
  /** For each listener, a function that returns the number of its open connections. */
  readonly connections: {
    readonly public: () => number;
    readonly internal: () => number;
    readonly portal?: () => number;
  };
  readonly held: Pick<HeldBytes, 'held'>;
  /**
   * Prepares the listeners for new applications.
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
  const { deps, timers, engine, registry, waitsOf } = services;
  const { config, logger } = deps;
  // All generations share this object, so that tenants get no extra slots during a reload.
  const concurrency = new TenantConcurrency(config.limits, waitsOf);
  const applications = await openApplications(services, stages, concurrency);
  const { noteCut, noteClosed } = closingMetrics(registry);
  const held = new HeldBytes(config.limits.heldBytes, noteCut);
  const listeners = createListeners(applications, config, held, noteClosed);
  for (const { server } of present(Object.values(listeners))) workers?.control(server);
  const internal = await stages.open(
    'internal listener',
    () => opened(listeners.internal, config.internal, timers),
    closeAtOnce,
  );
  logger.info(internal.address, 'the internal listener is open');
  const portal =
    listeners.portal &&
    config.portal &&
    (await openPortal(listeners.portal, config.portal, services, stages));
  const outer = await stages.open(
    'public listener',
    () => opened(listeners.public, config.listen, timers),
    (outer) => Promise.all(present([outer, portal]).map((each) => drained(each, applications, logger))),
  );
  logger.info(outer.address, 'the public listener is open');
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
    held,
    publicAddress: outer.address,
    internalAddress: internal.address,
    portalAddress: portal && portal.address,
    connections: {
      public: outer.connections,
      internal: internal.connections,
      ...(portal && { portal: portal.connections }),
    },
    prepare: () => switchOf(listeners, services, concurrency),
  };
}

function openApplications(
  { given, complete, deps, observersOf, timers }: Services,
  stages: Stages<Stage>,
  concurrency: TenantConcurrency,
): Promise<Applications> {
  const { config, logger } = deps;
  const make = (config: typeof given) =>
    generation({ ...deps, config, ...observersOf(config), concurrency }, timers);
  return stages.open(
    'applications',
    () => Applications.open(config, { given, complete, make, logger }),
    (applications) => applications.close(),
  );
}

type Listeners = Readonly<Record<'public' | 'internal', Listener> & Record<'portal', Listener | null>>;

function createListeners(
  { current }: Applications,
  { limits, listen }: Config,
  held: HeldBytes,
  noteClosed: (what: ClosedForRoom) => void,
): Listeners {
  const create = (app: Application, tls: typeof listen.tls = null): Listener =>
    createListener(app, limits, tls, undefined, undefined, held, noteClosed);
  return {
    internal: create(current.internalApp),
    public: create(current.publicApp, listen.tls),
    portal: current.portalApp && create(current.portalApp),
  };
}

function present<T>(values: readonly (T | null)[]): T[] {
  return values.filter((value) => value !== null);
}

async function openPortal(
  listener: Listener,
  at: Address,
  { deps, timers }: Services,
  stages: Stages<Stage>,
): Promise<OpenListener> {
  const portal = await stages.open(
    'portal listener',
    () => opened(listener, at, timers),
    // It has been drained with the public listener, unless that could not be opened.
    closeAtOnce,
  );
  deps.logger.info(portal.address, 'the portal listener is open');
  return portal;
}

function closeAtOnce({ drain }: Drainable): Promise<number> {
  return drain({ limitMs: 0, idleMs: 0 });
}

/** Prepares the listeners for new applications. */
function switchOf(
  listeners: Listeners,
  { operatorTokens }: Services,
  concurrency: TenantConcurrency,
): Switch {
  const serve = {
    public: listeners.public.prepare(),
    internal: listeners.internal.prepare(),
    portal: listeners.portal?.prepare(),
  };
  return ({ publicApp, internalApp, portalApp }, { limits, operators }) => {
    serve.public(publicApp, limits);
    serve.internal(internalApp, limits);
    if (portalApp !== null) serve.portal?.(portalApp, limits);
    concurrency.limits = limits;
    operatorTokens.replace(operators);
  };
}

/** Drains a listener within the times set by the current configuration. */
async function drained({ drain }: Drainable, applications: Applications, logger: Logger): Promise<void> {
  const { drainMs, drainDelayMs, drainIdleMs } = applications.config;
  const limitMs = (drainMs - drainDelayMs) * (1 - finishShare);
  const goAway = (): void => applications.goAway();
  goAway();
  // `onRefusing` calls `goAway` again, because clients may have opened WebSockets since the first call.
  const cut = await drain({ limitMs, idleMs: Math.min(drainIdleMs, limitMs / 2), onRefusing: goAway });
  if (cut > 0) logger.warn({ connections: cut }, 'connections still open at the end of the drain were cut');
}

type OpenListener = Drainable & { readonly address: Address };

async function opened(listener: Listener, at: Address, timers: Timers): Promise<OpenListener> {
  const ended = drainable(listener, timers);
  return { ...ended, address: await listener.acceptors.listen(at) };
}
