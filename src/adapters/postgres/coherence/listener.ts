import type { Hints } from './hints.ts';
import { Lane } from '../connection/connection.ts';
import type { Connect } from '../connection/sql.ts';

/** How often a connection that hears nothing is asked whether it is still there. */
const probeMs = 10_000;
/** Pause after a cut, so that a server that is away is not stormed. */
const retryMs = 250;
const deadlineMs = 2_000;

/**
 * Turns NOTIFY into hints, on a connection of its own that comes back after cuts. Behind a transaction pooler it hears
 * nothing, and replicas learn by reading the log on their own time.
 */
export class Listener {
  readonly #lane: Lane;
  readonly #hints: Pick<Hints, 'nudge'>;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(connect: Connect, hints: Pick<Hints, 'nudge'>) {
    this.#hints = hints;
    this.#lane = new Lane(connect, {
      onnotify: () => hints.nudge(),
      onclose: () => this.#schedule(retryMs),
    });
  }

  /** Begins to listen; tries again for as long as that fails. */
  start(): void {
    if (this.#timer === undefined) this.#schedule(0);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#lane.close();
  }

  #schedule(ms: number): void {
    clearTimeout(this.#timer);
    if (!this.#closed) this.#timer = setTimeout(() => void this.#listen(), ms);
  }

  /** Listening twice is the same as once, so this is the probe as well. */
  async #listen(): Promise<void> {
    try {
      await this.#lane.run((sql) => sql`listen tenancy_gateway_coherence`, deadlineMs);
      this.#schedule(probeMs);
    } catch {
      this.#schedule(retryMs);
    }
    // While nobody listened, something may have been said.
    this.#hints.nudge();
  }
}
