import type { FastifyInstance } from 'fastify';
import { internalServer, publicServer, type AppDeps } from '../app.ts';
import type { InFlight } from '../limits/concurrency.ts';
import { Streams } from '../proxy/active-exchanges.ts';
import type { Timers } from '../ports/timers.ts';
import type { Application } from '../server/listener.ts';

/** Both applications made from one reading of the configuration. */
export interface Generation {
  readonly publicApp: Application;
  readonly internalApp: Application;
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
 * @param deps with the places of all generations: a tenant has no more of them while there are two
 * @throws where the configuration cannot be used; nothing is left behind then
 */
export async function generation(
  deps: AppDeps & { readonly inFlight: InFlight },
  timers: Timers,
): Promise<Generation> {
  const streams = new Streams();
  const publicApp = await publicServer({ ...deps, streams });
  const internalApp = await internalServer(deps).catch(async (error: unknown) => {
    await publicApp.close();
    throw error;
  });
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= closeBoth());
  async function closeBoth(): Promise<void> {
    await publicApp.close();
    await internalApp.close();
  }
  return {
    publicApp: applicationOf(publicApp),
    internalApp: applicationOf(internalApp),
    close,
    goAway: () => streams.goAway(),
    retire: async () => {
      do await new Promise<void>((resolve) => void timers.after(lookMs, resolve));
      while (streams.size > 0 && closing === undefined);
      await close();
    },
  };
}

/**
 * The functions of a Fastify instance whose own server never listens: what is registered there for an event is called
 * as if it did. Leaves out what nothing is registered for.
 */
export function applicationOf({ server }: FastifyInstance): Application {
  const passOn =
    (event: keyof Application) =>
    (...args: readonly unknown[]): void =>
      void server.emit(event, ...args);
  const passOnIf = (event: keyof Application) =>
    server.listenerCount(event) === 0 ? {} : { [event]: passOn(event) };
  return {
    request: passOn('request'),
    clientError: passOn('clientError'),
    ...passOnIf('upgrade'),
    ...passOnIf('checkContinue'),
    ...passOnIf('checkExpectation'),
  };
}
