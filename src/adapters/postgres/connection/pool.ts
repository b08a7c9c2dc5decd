import { Turns } from '../../../domain/turns.ts';
import { tooManyRequests, unavailable } from './failure.ts';
import { Connection } from './connection.ts';
import type { Connect, Work } from './sql.ts';

/** Runs statements, each with a deadline; a view of a {@link Pool}, or a stand-in in tests. */
export interface Runner {
  /**
   * Rejects with a `ProblemError`: `unavailable` where the store is away or late, `too_many_requests` where too much of
   * this tenant waits.
   *
   * @param tenant who asked; tenants take turns, and none can have every connection. Without one it is the gateway itself
   *   or an operator
   */
  run<T>(work: Work<T>, tenant?: string): Promise<T>;
}

/** Statements of one tenant that may wait for a connection. */
const waitingMost = 1_000;

/** A statement that waits for a connection. */
interface Waiter {
  readonly take: (connection: Connection) => void;
}

/** What runs and waits of one tenant, or of the gateway itself. */
interface Line {
  readonly name: string;
  /** Connections it may have at once. */
  readonly most: number;
  running: number;
  /** Statements that came to an end: the store responds. */
  ended: number;
}

/**
 * A few connections; the most recently used free one goes first, so that a quiet gateway holds few open. Waiting for
 * one counts towards the deadline and may take half of it, of a tenant up to three quarters: a statement that starts has time to
 * end, and a deadline that passes means a silent server, not a crowd.
 *
 * Tenants that wait take turns, and each may have all connections but one: another tenant's statement, such as a revoke,
 * waits for one statement to end at most, however many the first has sent.
 */
export class Pool {
  readonly #free: Connection[];
  readonly #connections: readonly Connection[];
  readonly #waiting = new Turns<Waiter>();
  readonly #lines = new Map<string, Line>();
  #waits = 0;

  constructor(connect: Connect, size: number) {
    this.#connections = Array.from({ length: size }, () => new Connection(connect));
    this.#free = [...this.#connections];
  }

  /**
   * A view of this pool whose statements all have this deadline, in milliseconds.
   *
   * @param kind views of different kinds take turns as tenants do: where there is one connection for everything, a
   *   tenant's reports do not stand before its changes
   */
  withDeadline(deadlineMs: number, kind = ''): Runner {
    return { run: (work, tenant) => this.#run(work, deadlineMs, this.#lineOf(kind, tenant)) };
  }

  /** Ends every connection, after what runs on it or one second; what still waits is rejected. */
  async close(): Promise<void> {
    await Promise.all(this.#connections.map((connection) => connection.close()));
  }

  async #run<T>(work: Work<T>, deadlineMs: number, line: Line): Promise<T> {
    const end = performance.now() + deadlineMs;
    const connection = this.#takeFree(line) ?? (await this.#wait(line, deadlineMs / 2));
    try {
      const result = await connection.run(work, Math.max(end - performance.now(), deadlineMs / 2));
      line.ended += 1;
      return result;
    } finally {
      line.running -= 1;
      this.#waiting.moveBack(line.name);
      this.#giveBack(connection);
      this.#forget(line);
    }
  }

  #takeFree(line: Line): Connection | undefined {
    if (line.running >= line.most) return undefined;
    const connection = this.#free.pop();
    if (connection !== undefined) line.running += 1;
    return connection;
  }

  #wait(line: Line, halfMs: number): Promise<Connection> {
    // What a tenant sends all at once is not all rejected at once: working on that would keep other tenants waiting.
    const limitMs = line.most < Infinity ? halfMs * (1 + this.#spread() / 2) : halfMs;
    if (this.#waiting.sizeOf(line.name) >= waitingMost) return Promise.reject(tooManyRequests());
    const endedBefore = line.ended;
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        take: (connection) => {
          clearTimeout(timer);
          line.running += 1;
          resolve(connection);
        },
      };
      const timer = setTimeout(() => {
        this.#waiting.remove(line.name, waiter);
        this.#forget(line);
        // Where others of the same tenant were served meanwhile, the store is there, and the tenant in its own way.
        if (line.most < Infinity && line.ended > endedBefore) return reject(tooManyRequests());
        reject(unavailable(new Error(`no free connection to the store within ${limitMs} ms`)));
      }, limitMs);
      this.#waiting.add(line.name, waiter);
    });
  }

  /** Values from 0 to 1, each far from those before it: multiples of the golden ratio. */
  #spread(): number {
    this.#waits = (this.#waits + 0.618034) % 1;
    return this.#waits;
  }

  #giveBack(connection: Connection): void {
    const next = this.#waiting.take(1, (name) => this.#hasRoom(name))?.things[0];
    if (next === undefined) this.#free.push(connection);
    else next.take(connection);
  }

  #hasRoom(name: string): boolean {
    const line = this.#lines.get(name);
    return line !== undefined && line.running < line.most;
  }

  #lineOf(kind: string, tenant: string | undefined): Line {
    const name = tenant === undefined ? kind : `${kind} ${tenant}`;
    const present = this.#lines.get(name);
    if (present !== undefined) return present;
    const most = tenant === undefined ? Infinity : Math.max(1, this.#connections.length - 1);
    const line = { name, most, running: 0, ended: 0 };
    this.#lines.set(name, line);
    return line;
  }

  #forget(line: Line): void {
    if (line.running === 0 && this.#waiting.sizeOf(line.name) === 0) this.#lines.delete(line.name);
  }
}
