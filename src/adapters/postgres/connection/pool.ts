import { Turns } from '../../../domain/turns.ts';
import type { PoolState } from '../../../ports/pool-state.ts';
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

/** How many connections may be taken at once by what counts within it: one kind of statements, or several together. */
export class Limit {
  readonly #most: number;
  readonly #mostOfOne: number;
  readonly #byTenant = new Map<string, number>();
  #running = 0;

  /**
   * @param most connections
   * @param mostOfOne connections of one tenant
   */
  constructor(most: number, mostOfOne = most) {
    this.#most = most;
    this.#mostOfOne = mostOfOne;
  }

  hasRoom(tenant: string | undefined): boolean {
    if (this.#running >= this.#most) return false;
    return tenant === undefined || (this.#byTenant.get(tenant) ?? 0) < this.#mostOfOne;
  }

  /** @param difference 1 for a statement that begins, -1 for one that has ended */
  count(tenant: string | undefined, difference: 1 | -1): void {
    this.#running += difference;
    if (tenant === undefined) return;
    const running = (this.#byTenant.get(tenant) ?? 0) + difference;
    if (running === 0) this.#byTenant.delete(tenant);
    else this.#byTenant.set(tenant, running);
  }
}

/** What runs and waits of one kind and one tenant, or of the gateway itself. */
interface Line {
  readonly name: string;
  readonly tenant: string | undefined;
  readonly limits: readonly Limit[];
  running: number;
  /** Statements that came to an end: the store responds. */
  ended: number;
}

/**
 * A few connections, each opened when it is first needed; the most recently used free one goes first, so that those not
 * needed stay idle and are closed. Waiting for one counts towards the deadline and may take half of it, of a tenant up to
 * three quarters: a statement that starts has time to end, and a deadline that passes means a silent server, not a crowd.
 *
 * Tenants that wait take turns, and each may have all connections but one: another tenant's statement, such as a revoke,
 * waits for one statement to end at most, however many the first has sent.
 */
export class Pool {
  readonly #free: Connection[];
  readonly #connections: readonly Connection[];
  readonly #all: Limit;
  readonly #waiting = new Turns<Waiter>();
  readonly #lines = new Map<string, Line>();
  #waits = 0;

  constructor(connect: Connect, size: number) {
    this.#connections = Array.from({ length: size }, () => new Connection(connect));
    this.#free = [...this.#connections];
    this.#all = new Limit(size, Math.max(1, size - 1));
  }

  /**
   * A view of this pool whose statements all have this deadline, in milliseconds.
   *
   * @param kind views of different kinds take turns as tenants do: where there is one connection for everything, a
   *   tenant's reports do not stand before its changes
   * @param limits what its statements count within, beside what holds for all
   */
  withDeadline(deadlineMs: number, kind = '', ...limits: readonly Limit[]): Runner {
    const within = [this.#all, ...limits];
    return { run: (work, tenant) => this.#run(work, deadlineMs, this.#lineOf(kind, tenant, within)) };
  }

  /** How busy it is right now. */
  get state(): PoolState {
    const most = this.#connections.length;
    return { inUse: most - this.#free.length, most, waiting: this.#waiting.size };
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
      count(line, -1);
      this.#waiting.moveBack(line.name);
      this.#giveBack(connection);
      this.#forget(line);
    }
  }

  #takeFree(line: Line): Connection | undefined {
    if (!hasRoom(line)) return undefined;
    const connection = this.#free.pop();
    if (connection !== undefined) count(line, 1);
    return connection;
  }

  #wait(line: Line, halfMs: number): Promise<Connection> {
    // What a tenant sends all at once is not all rejected at once: working on that would keep other tenants waiting.
    const limitMs = line.tenant !== undefined ? halfMs * (1 + this.#spread() / 2) : halfMs;
    if (this.#waiting.sizeOf(line.name) >= waitingMost) return Promise.reject(tooManyRequests());
    const endedBefore = line.ended;
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        take: (connection) => {
          clearTimeout(timer);
          count(line, 1);
          resolve(connection);
        },
      };
      const timer = setTimeout(() => {
        this.#waiting.remove(line.name, waiter);
        this.#forget(line);
        // Where others of the same tenant were served meanwhile, the store is there, and the tenant in its own way.
        if (line.tenant !== undefined && line.ended > endedBefore) return reject(tooManyRequests());
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
    this.#free.push(connection);
    // One statement that ends may make room for several: within its limits one waited, and a connection was free for another.
    for (let free = this.#free.at(-1); free !== undefined; free = this.#free.at(-1)) {
      const next = this.#waiting.take(1, (name) => this.#mayRun(name))?.things[0];
      if (next === undefined) return;
      this.#free.pop();
      next.take(free);
    }
  }

  #mayRun(name: string): boolean {
    const line = this.#lines.get(name);
    return line !== undefined && hasRoom(line);
  }

  #lineOf(kind: string, tenant: string | undefined, limits: readonly Limit[]): Line {
    const name = tenant === undefined ? kind : `${kind} ${tenant}`;
    const present = this.#lines.get(name);
    if (present !== undefined) return present;
    const line = { name, tenant, limits, running: 0, ended: 0 };
    this.#lines.set(name, line);
    return line;
  }

  #forget(line: Line): void {
    if (line.running === 0 && this.#waiting.sizeOf(line.name) === 0) this.#lines.delete(line.name);
  }
}

function hasRoom({ tenant, limits }: Line): boolean {
  return limits.every((limit) => limit.hasRoom(tenant));
}

function count(line: Line, difference: 1 | -1): void {
  line.running += difference;
  for (const limit of line.limits) limit.count(line.tenant, difference);
}
