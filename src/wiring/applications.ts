import type { Config, LimitsConfig } from '../config.ts';
import type { Logger } from '../ops/logger.ts';
import type { ExchangeState } from '../proxy/exchange-states.ts';
import type { Generation } from './generation.ts';
import { mustNotNeedRestart } from './restart-needed.ts';

export interface ApplicationsParts {
  /** The configuration that the process began with, as it was read. */
  readonly given: Config;
  /** Fills in what a configuration leaves to the gateway. */
  readonly complete: (read: Config) => Promise<Config>;
  /** @throws where the configuration cannot be used; nothing is left behind then */
  readonly make: (config: Config) => Promise<Generation>;
  readonly logger: Logger;
}

/** The applications that are served, and those that a reload replaced while requests were still under way in them. */
export class Applications {
  readonly #parts: ApplicationsParts;
  readonly #generations: Set<Generation>;
  #current: Generation;
  #config: Config;
  #reloading: Promise<void> = Promise.resolve();
  #ending = false;

  /** Makes the first ones, for `config`, which is complete. */
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
   * Replaces the current applications by those for `wanted`. Called while another call is under way, it comes after it.
   *
   * @param prepare makes the listeners ready for new applications, and returns what makes them call these; where it throws, it
   *   has changed nothing
   * @param agreed is awaited when all is ready and before they are served; where it rejects, they are not
   * @throws {NeedsRestart} or whatever keeps `wanted` from being used; then everything goes on as it was
   */
  reload(
    wanted: Config,
    prepare: () => (made: Generation, limits: LimitsConfig) => void,
    agreed: () => Promise<void> = async () => undefined,
  ): Promise<void> {
    const done = this.#reloading.then(() => this.#replace(wanted, prepare, agreed));
    this.#reloading = done.catch(() => undefined);
    return done;
  }

  /** How many proxied requests and WebSockets are in which state. */
  underWay(): ReadonlyMap<ExchangeState, number> {
    const counts = new Map<ExchangeState, number>();
    for (const { exchanges } of this.#generations) exchanges.countInto(counts);
    return counts;
  }

  /** Rejects reloads from now on; resolves when the one under way is done. */
  endReloads(): Promise<void> {
    this.#ending = true;
    return this.#reloading;
  }

  /** Tells WebSockets to connect elsewhere: they would not end by themselves. */
  goAway(): void {
    for (const each of this.#generations) each.goAway();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#generations].map((each) => each.close()));
  }

  async #replace(
    wanted: Config,
    prepare: () => (made: Generation, limits: LimitsConfig) => void,
    agreed: () => Promise<void>,
  ): Promise<void> {
    const { given, complete, make, logger } = this.#parts;
    mustNotNeedRestart(given, wanted);
    if (this.#ending) throw new Error('this process is about to end');
    const config = await complete(wanted);
    const made = await make(config);
    try {
      const serve = prepare();
      // What all workers have agreed on must not fail in one of them: its connections would be cut.
      await agreed();
      serve(made, config.limits);
    } catch (error) {
      await made.close();
      throw error;
    }
    // From here on nothing can fail.
    const replaced = this.#current;
    [this.#current, this.#config] = [made, config];
    this.#generations.add(made);
    // Without waiting for it: a WebSocket may stay open for days.
    replaced.retire().then(
      () => this.#generations.delete(replaced),
      (err: unknown) => logger.error({ err }, 'what a reload replaced could not be given up'),
    );
  }
}
