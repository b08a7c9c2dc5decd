import type { Hints } from './hints.ts';
import { Connection } from '../connection/connection.ts';
import type { Runner } from '../connection/pool.ts';
import type { Connect, Work } from '../connection/sql.ts';

/** Pause after the connection is lost or cannot be had, so that a server that is away is not flooded with attempts. */
const retryMs = 250;

/**
 * The one connection that is held: it runs the statements of the lease and the barrier, and turns NOTIFY into hints. The
 * statements go out as they come, and the server takes them in that order; all of them are short, so none waits for long.
 * Through a transaction pooler it hears nothing; replicas then learn of changes when they next read the log.
 */
export class Session implements Runner {
  readonly #connection: Connection;
  readonly #hints: Pick<Hints, 'nudge'>;
  readonly #deadlineMs: number;
  readonly #oneByOne: boolean;
  #last: Promise<unknown> = Promise.resolve();
  #wanted = false;
  /** The connection on which notifications were asked for. */
  #listening: object | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  /**
   * @param deadlineMs of each statement; when it passes, the connection is replaced
   * @param oneByOne each statement waits for the result of the one before. A transaction pooler needs that: after a result
   *   it gives the server to another client, though half of the next statement may be there already
   */
  constructor(connect: Connect, hints: Pick<Hints, 'nudge'>, deadlineMs: number, oneByOne = false) {
    this.#hints = hints;
    this.#deadlineMs = deadlineMs;
    this.#oneByOne = oneByOne;
    this.#connection = new Connection(connect, {
      onnotify: () => hints.nudge(),
      onclose: () => this.#lost(),
    });
  }

  async run<T>(work: Work<T>): Promise<T> {
    const running = this.#send(work);
    // A connection that was replaced listens again, with the first statement on it.
    if (this.#wanted && this.#listening !== this.#connection.current) void this.#listen();
    return running;
  }

  /** Begins to listen; tries again for as long as that fails. */
  listen(): void {
    if (this.#wanted) return;
    this.#wanted = true;
    void this.#listen();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#connection.close();
  }

  async #listen(): Promise<void> {
    clearTimeout(this.#timer);
    const listening = this.#send((sql) => sql`listen tenancy_gateway_coherence`);
    this.#listening = this.#connection.current;
    try {
      await listening;
      // A notification may have been sent before that.
      this.#hints.nudge();
    } catch {
      this.#lost();
    }
  }

  #send<T>(work: Work<T>): Promise<T> {
    const send = (): Promise<T> => this.#connection.run(work, this.#deadlineMs);
    const running = this.#oneByOne ? this.#last.then(send, send) : send();
    this.#last = running;
    return running;
  }

  #lost(): void {
    this.#listening = undefined;
    clearTimeout(this.#timer);
    if (this.#wanted && !this.#closed) this.#timer = setTimeout(() => void this.#listen(), retryMs);
  }
}
