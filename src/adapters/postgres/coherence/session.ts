import type { Hints } from './hints.ts';
import { Connection } from '../connection/connection.ts';
import type { Runner } from '../connection/pool.ts';
import type { Connect, Work } from '../connection/sql.ts';

/**
 * Pause in milliseconds before LISTEN is sent again after a connection was lost or refused, so that a dead server is
 * not flooded with attempts.
 */
const retryMs = 250;

/**
 * The one connection that stays open: it runs the statements of the lease and the barrier, and turns NOTIFY into hints.
 * The server runs statements in the order in which they are sent. All of them are short, so none waits for long.
 * Through a transaction pooler no notification arrives; replicas then learn of changes when they next read the log.
 */
export class Session implements Runner {
  readonly #connection: Connection;
  readonly #hints: Pick<Hints, 'nudge'>;
  readonly #deadlineMs: number;
  readonly #oneByOne: boolean;
  #last: Promise<unknown> = Promise.resolve();
  #wanted = false;
  /** Connection that has sent LISTEN. */
  #listening: object | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  /**
   * @param deadlineMs deadline of each statement, in milliseconds; when it passes, the connection is replaced
   * @param oneByOne whether each statement waits for the result of the previous one. A transaction pooler needs that:
   * after a result it gives the server's connection to another client, even if half of the next statement has arrived
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
    // A new connection does not listen yet, so it sends LISTEN after its first statement.
    if (this.#wanted && this.#listening !== this.#connection.current) void this.#listen();
    return running;
  }

  /** Begins to listen for notifications; tries again until that succeeds. */
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
      // Notifications from before LISTEN may have been missed, so listeners must read the log now.
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
