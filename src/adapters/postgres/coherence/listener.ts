import type { Hints } from './hints.ts';
import { Connection } from '../connection/connection.ts';
import type { Connect } from '../connection/sql.ts';

/** How often a statement checks that a silent connection still works. */
const probeMs = 10_000;
/** Pause after a connection is lost, so that a server that is away is not flooded with attempts. */
const retryMs = 250;
const deadlineMs = 2_000;

/**
 * Turns NOTIFY into hints, on a connection of its own that is made again when it is lost. Behind a transaction pooler it
 * hears nothing; replicas then learn of changes when they next read the log.
 */
export class Listener {
  readonly #connection: Connection;
  readonly #hints: Pick<Hints, 'nudge'>;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(connect: Connect, hints: Pick<Hints, 'nudge'>) {
    this.#hints = hints;
    this.#connection = new Connection(connect, {
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
    await this.#connection.close();
  }

  #schedule(ms: number): void {
    clearTimeout(this.#timer);
    if (!this.#closed) this.#timer = setTimeout(() => void this.#listen(), ms);
  }

  /** Listening twice is the same as once, so this is the probe as well. */
  async #listen(): Promise<void> {
    try {
      await this.#connection.run((sql) => sql`listen tenancy_gateway_coherence`, deadlineMs);
      this.#schedule(probeMs);
    } catch {
      this.#schedule(retryMs);
    }
    // A notification may have been sent while this connection was not listening.
    this.#hints.nudge();
  }
}
