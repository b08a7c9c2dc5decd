import { unavailable } from './failure.ts';
import { Connection } from './connection.ts';
import type { Connect, Work } from './sql.ts';

/** Runs statements, each with a deadline; a view of a {@link Pool}, or a stand-in in tests. */
export interface Runner {
  /** Rejects with a `ProblemError`: `unavailable` where the store is away or late. */
  run<T>(work: Work<T>): Promise<T>;
}

/** A statement that waits for a connection. */
interface Waiter {
  readonly take: (connection: Connection) => void;
}

/**
 * A few connections; the most recently used free one goes first, so that a quiet gateway holds few open. Waiting for
 * one counts towards the deadline and may take half of it: a statement that starts has time to end, and a deadline
 * that passes means a silent server, not a crowd.
 */
export class Pool {
  readonly #free: Connection[];
  readonly #connections: readonly Connection[];
  readonly #waiting = new Set<Waiter>();

  constructor(connect: Connect, size: number) {
    this.#connections = Array.from({ length: size }, () => new Connection(connect));
    this.#free = [...this.#connections];
  }

  /** A view of this pool whose statements all have this deadline, in milliseconds. */
  withDeadline(deadlineMs: number): Runner {
    return { run: (work) => this.#run(work, deadlineMs) };
  }

  /** Ends every connection, after what runs on it or one second; what still waits is rejected. */
  async close(): Promise<void> {
    await Promise.all(this.#connections.map((connection) => connection.close()));
  }

  async #run<T>(work: Work<T>, deadlineMs: number): Promise<T> {
    const end = performance.now() + deadlineMs;
    const connection = this.#free.pop() ?? (await this.#wait(deadlineMs / 2));
    try {
      return await connection.run(work, Math.max(end - performance.now(), deadlineMs / 2));
    } finally {
      this.#giveBack(connection);
    }
  }

  #wait(limitMs: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        take: (connection) => {
          clearTimeout(timer);
          resolve(connection);
        },
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(waiter);
        reject(unavailable(new Error(`no free connection to the store within ${limitMs} ms`)));
      }, limitMs);
      this.#waiting.add(waiter);
    });
  }

  #giveBack(connection: Connection): void {
    for (const waiter of this.#waiting) {
      this.#waiting.delete(waiter);
      waiter.take(connection);
      return;
    }
    this.#free.push(connection);
  }
}
