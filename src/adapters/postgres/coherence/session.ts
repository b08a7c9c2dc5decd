import { systemTimers } from '../../../ports/timers.ts';
import type { Hints } from './hints.ts';
import { Connection } from '../connection/connection.ts';
import type { Runner } from '../connection/pool.ts';
import type { Connect, Work } from '../connection/sql.ts';

/**
 * Pause in milliseconds before LISTEN is sent again after a connection is lost or refused, so that a dead server is not
 * flooded with attempts.
 */
const retryMs = 250;

/**
 * A connection that stays open. It runs the lease and barrier statements, and turns NOTIFY into hints. The server runs
 * the statements in the order in which they are sent. All of them are short, so none waits long. Notifications do not
 * get through a transaction pooler. Behind a pooler, replicas learn of changes the next time they read the log.
 */
export class Session implements Runner {
  readonly #connection: Connection;
  readonly #hints: Pick<Hints, 'nudge'>;
  readonly #deadlineMs: number;
  readonly #oneByOne: boolean;
  #last: Promise<unknown> = Promise.resolve();
  #wanted = false;
  /** Connection on which LISTEN was sent. */
  #listening: object | undefined;
  #callOff: () => void = () => undefined;
  #closed = false;

  /**
   * @param deadlineMs deadline of each statement, in milliseconds; when it passes, the connection is replaced
   * @param oneByOne whether each statement waits for the previous one's result. A transaction pooler requires this:
   * after each result, it gives the server connection to another client, even if half of the next statement has arrived
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
    // The statement may have opened a new connection, which is not listening yet.
    if (this.#wanted && this.#listening !== this.#connection.current) void this.#listen();
    return running;
  }

  /** Starts listening for notifications, and retries until that succeeds. */
  listen(): void {
    if (this.#wanted) return;
    this.#wanted = true;
    void this.#listen();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#callOff();
    await this.#connection.close();
  }

  async #listen(): Promise<void> {
    this.#callOff();
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
    this.#callOff();
    if (this.#wanted && !this.#closed) this.#callOff = systemTimers.after(retryMs, () => void this.#listen());
  }
}
