import { internalServer, portalServer, publicServer, type AppDeps, type ServedApplication } from '../app.ts';
import type { TenantConcurrency } from '../limits/concurrency.ts';
import { ActiveExchanges } from '../proxy/active-exchanges.ts';
import { nextTurn, type Timers } from '../ports/timers.ts';
import type { Application } from '../server/served.ts';

/** The applications, made for one version of the configuration. */
export interface Generation {
  readonly publicApp: Application;
  readonly internalApp: Application;
  /** `null` if there is no portal. */
  readonly portalApp: Application | null;
  /** Active exchanges that began in this generation. */
  readonly exchanges: Pick<ActiveExchanges, 'countInto' | 'countOpen'>;
  /** Waits until this generation's exchanges have ended, then closes its applications and connections to upstreams. */
  retire(): Promise<void>;
  /** Asks WebSocket clients to reconnect elsewhere, because WebSockets do not end on their own. */
  goAway(): void;
  /** Closes all applications immediately. */
  close(): Promise<void>;
}

/** Milliseconds between checks of whether a replaced generation still has active exchanges. */
const lookMs = 500;

/**
 * Builds the applications.
 *
 * @param deps `concurrency` is shared by all generations, so that tenants get no extra slots during a reload
 * @throws if the configuration cannot be used; everything that the call had opened is closed
 */
export async function generation(
  deps: AppDeps & { readonly concurrency: TenantConcurrency },
  timers: Timers,
): Promise<Generation> {
  const exchanges = new ActiveExchanges();
  const open: ServedApplication[] = [];
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= closeAll(open));
  async function opened<T extends ServedApplication>(making: Promise<T>): Promise<T> {
    const app = await making.catch(async (error: unknown) => {
      await close();
      throw error;
    });
    open.push(app);
    // Others have a turn before the next application is made, which takes tens of milliseconds.
    await nextTurn();
    return app;
  }
  const publicApp = await opened(publicServer({ ...deps, exchanges }));
  const { destinationOf, shedding } = publicApp;
  const internalApp = await opened(internalServer({ ...deps, destinationOf, shedding }));
  const { portal } = deps.config;
  const portalApp = portal && (await opened(portalServer({ ...deps, portal, shedding })));
  return {
    publicApp,
    internalApp,
    portalApp,
    exchanges,
    close,
    goAway: () => exchanges.goAway(),
    retire: async () => {
      do await new Promise<void>((resolve) => void timers.after(lookMs, resolve));
      while (exchanges.size > 0 && closing === undefined);
      await close();
    },
  };
}

async function closeAll(applications: readonly ServedApplication[]): Promise<void> {
  for (const application of applications) await application.close();
}
