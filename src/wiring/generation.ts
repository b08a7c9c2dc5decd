import { internalServer, publicServer, type AppDeps } from '../app.ts';
import type { TenantConcurrency } from '../limits/concurrency.ts';
import { ActiveExchanges } from '../proxy/active-exchanges.ts';
import type { Timers } from '../ports/timers.ts';
import type { Application } from '../server/served.ts';

/** The public and the internal application, made for one version of the configuration. */
export interface Generation {
  readonly publicApp: Application;
  readonly internalApp: Application;
  /** Active exchanges that began in this generation. */
  readonly exchanges: Pick<ActiveExchanges, 'countInto'>;
  /** Waits until this generation's exchanges have ended, then closes its applications and connections to upstreams. */
  retire(): Promise<void>;
  /** Asks WebSocket clients to reconnect elsewhere, because WebSockets do not end on their own. */
  goAway(): void;
  /** Closes both applications immediately. */
  close(): Promise<void>;
}

/** Milliseconds between checks of whether a replaced generation still has active exchanges. */
const lookMs = 500;

/**
 * Builds the public and the internal application.
 *
 * @param deps `concurrency` is shared by all generations, so that tenants get no extra slots during a reload
 * @throws if the configuration cannot be used; everything that the call had opened is closed
 */
export async function generation(
  deps: AppDeps & { readonly concurrency: TenantConcurrency },
  timers: Timers,
): Promise<Generation> {
  const exchanges = new ActiveExchanges();
  const publicApp = await publicServer({ ...deps, exchanges });
  const internalApp = await internalServer({ ...deps, destinationOf: publicApp.destinationOf }).catch(
    async (error: unknown) => {
      await publicApp.close();
      throw error;
    },
  );
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= closeBoth());
  async function closeBoth(): Promise<void> {
    await publicApp.close();
    await internalApp.close();
  }
  return {
    publicApp,
    internalApp,
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
