import { unavailable } from './failure.ts';
import { Lane } from './connection.ts';
import type { Connect, Work } from './sql.ts';

/** Runs statements, each with a deadline; a {@link Pool} or whatever stands in for one. */
export interface Runner {
  /** Rejects with a `ProblemError`: `unavailable` where the store is away or late. */
  run<T>(work: Work<T>): Promise<T>;
}

/** A statement that waits for a connection. */
interface Waiter {
  readonly take: (lane: Lane) => void;
}

/**
 * A few connections; the most recently used free one goes first, so that a quiet gateway holds few open. Waiting for
 * one counts towards the deadline and may take half of it: a statement that starts has time to end, and a deadline
 * that passes means a silent server, not a crowd.
 */
export class Pool {
  readonly #free: Lane[];
  readonly #lanes: readonly Lane[];
  readonly #waiting = new Set<Waiter>();

  constructor(connect: Connect, size: number) {
    this.#lanes = Array.from({ length: size }, () => new Lane(connect));
    this.#free = [...this.#lanes];
  }

  /** A view of this pool whose statements all have this deadline, in milliseconds. */
  withDeadline(deadlineMs: number): Runner {
    return { run: (work) => this.#run(work, deadlineMs) };
  }

  /** Ends every connection, after what runs on it or one second; what still waits is refused. */
  async close(): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.close()));
  }

  async #run<T>(work: Work<T>, deadlineMs: number): Promise<T> {
    const end = performance.now() + deadlineMs;
    const lane = this.#free.pop() ?? (await this.#wait(deadlineMs / 2));
    try {
      return await lane.run(work, Math.max(end - performance.now(), deadlineMs / 2));
    } finally {
      this.#giveBack(lane);
    }
  }

  #wait(limitMs: number): Promise<Lane> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        take: (lane) => {
          clearTimeout(timer);
          resolve(lane);
        },
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(waiter);
        reject(unavailable(new Error(`no free connection to the store within ${limitMs} ms`)));
      }, limitMs);
      this.#waiting.add(waiter);
    });
  }

  #giveBack(lane: Lane): void {
    for (const waiter of this.#waiting) {
      this.#waiting.delete(waiter);
      waiter.take(lane);
      return;
    }
    this.#free.push(lane);
  }
}
