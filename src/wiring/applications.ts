import type { Config } from '../config.ts';
import type { Logger } from '../ops/logger.ts';
import type { RequestParties } from '../ports/request-record.ts';
import type { OpenCounts } from '../ports/tails.ts';
import type { ExchangeState } from '../proxy/exchange-states.ts';
import type { Generation } from './generation.ts';
import { mustNotNeedRestart } from './restart-needed.ts';

export interface ApplicationsParts {
  /** Configuration that the process started with, as it was read, without the additions of {@link complete}. */
  readonly given: Config;
  /**
   * Adds the echo upstream if the configuration has no routes, and the embedded store's operator token if none is set.
   */
  readonly complete: (read: Config) => Promise<Config>;
  /**
   * Makes the applications for a configuration.
   *
   * @throws if the configuration cannot be used; everything that the call had opened is closed
   */
  readonly make: (config: Config) => Promise<Generation>;
  readonly logger: Logger;
}

/** Switches the listeners to new applications and their configuration. */
export type Switch = (made: Generation, config: Pick<Config, 'limits' | 'operators'>) => void;

/** The applications in use, and the replaced ones that still have active exchanges. */
export class Applications {
  readonly #parts: ApplicationsParts;
  readonly #generations: Set<Generation>;
  #current: Generation;
  #config: Config;
  #reloading: Promise<void> = Promise.resolve();
  #ending = false;

  /**
   * Makes the first applications.
   *
   * @param config complete configuration
   */
  static async open(config: Config, parts: ApplicationsParts): Promise<Applications> {
    return new Applications(config, await parts.make(config), parts);
  }

  private constructor(config: Config, first: Generation, parts: ApplicationsParts) {
    this.#parts = parts;
    this.#config = config;
    this.#current = first;
    this.#generations = new Set([first]);
  }

  get config(): Config {
    return this.#config;
  }

  get current(): Generation {
    return this.#current;
  }

  /**
   * Replaces the current applications with new ones for `wanted`. A call during another reload waits for it to finish.
   *
   * @param prepare prepares the listeners for new applications, and returns the function that switches the listeners to
   *   them; if `prepare` throws, nothing has changed
   * @param agreed awaited right before the switch; if it rejects, the switch does not happen
   * @throws {NeedsRestart} or another error if `wanted` cannot be used; nothing has changed in that case
   */
  reload(
    wanted: Config,
    prepare: () => Switch,
    agreed: () => Promise<void> = async () => undefined,
  ): Promise<void> {
    const done = this.#reloading.then(() => this.#replace(wanted, prepare, agreed));
    this.#reloading = done.catch(() => undefined);
    return done;
  }

  /** Counts active exchanges by state. */
  underWay(): ReadonlyMap<ExchangeState, number> {
    const counts = new Map<ExchangeState, number>();
    for (const { exchanges } of this.#generations) exchanges.countInto(counts);
    return counts;
  }

  /** Counts active exchanges whose parties match. */
  countOpen(matches: (parties: RequestParties) => boolean): OpenCounts {
    let [requests, streams] = [0, 0];
    for (const { exchanges } of this.#generations) {
      const open = exchanges.countOpen(matches);
      requests += open.requests;
      streams += open.streams;
    }
    return { requests, streams };
  }

  /** Rejects further reloads; resolves once any running reload has finished. */
  endReloads(): Promise<void> {
    this.#ending = true;
    return this.#reloading;
  }

  /** Asks WebSocket clients to reconnect elsewhere, because WebSockets do not end on their own. */
  goAway(): void {
    for (const each of this.#generations) each.goAway();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#generations].map((each) => each.close()));
  }

  async #replace(wanted: Config, prepare: () => Switch, agreed: () => Promise<void>): Promise<void> {
    const { given, complete, make, logger } = this.#parts;
    mustNotNeedRestart(given, wanted);
    if (this.#ending) throw new Error('this process is about to end');
    const config = await complete(wanted);
    const made = await make(config);
    try {
      const serve = prepare();
      // The listeners are prepared before all workers agree, because a failure after the agreement would end this
      // worker and cut its connections.
      await agreed();
      serve(made, config);
    } catch (error) {
      await made.close();
      throw error;
    }
    // Nothing below can fail.
    const replaced = this.#current;
    [this.#current, this.#config] = [made, config];
    this.#generations.add(made);
    // `retire` is not awaited, because a WebSocket may stay open for days.
    replaced.retire().then(
      () => this.#generations.delete(replaced),
      (err: unknown) => logger.error({ err }, 'applications that a reload replaced could not be closed'),
    );
  }
}
