import { internalServer, publicServer, type AppDeps } from '../app.ts';
import type { TenantConcurrency } from '../limits/concurrency.ts';
import { ActiveExchanges } from '../proxy/active-exchanges.ts';
import type { Timers } from '../ports/timers.ts';
import type { Application } from '../server/listener.ts';

/** Both applications made from one reading of the configuration. */
export interface Generation {
  readonly publicApp: Application;
  readonly internalApp: Application;
  /** Requests and WebSockets that began here and are under way. */
  readonly exchanges: Pick<ActiveExchanges, 'countInto'>;
  /** Resolves once no exchange or WebSocket that began here is under way, and what it holds of upstreams is given up. */
  retire(): Promise<void>;
  /** Tells WebSockets to go elsewhere: they would not end by themselves. */
  goAway(): void;
  /** Gives everything up at once. */
  close(): Promise<void>;
}

/** How often an outgoing generation is looked at for exchanges and WebSockets under way. */
const lookMs = 500;

/**
 * Builds both applications.
 *
 * @param deps with the slots of all generations: a tenant has no more of them while there are two
 * @throws where the configuration cannot be used; nothing is left behind then
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
