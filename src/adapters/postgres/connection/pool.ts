import { RoundRobin } from '../../../domain/round-robin.ts';
import type { PoolState } from '../../../ports/pool-state.ts';
import { systemTimers } from '../../../ports/timers.ts';
import { tooManyRequests, unavailable } from './failure.ts';
import { Connection } from './connection.ts';
import type { Connect, Work } from './sql.ts';

/** Runs statements, each with a deadline. A runner is a view of a {@link Pool}, a `Session`, or a fake in tests. */
export interface Runner {
  /**
   * Runs a statement. Rejects with a `ProblemError`: `unavailable` if the store is unreachable or responds too late,
   * `too_many_requests` if too many of this tenant's statements are waiting.
   *
   * @param tenant tenant that the statement belongs to; without one, it belongs to the gateway itself or to an
   * operator. Tenants take turns, and no tenant can take every connection
   */
  run<T>(work: Work<T>, tenant?: string): Promise<T>;
}

/** Maximum number of statements per kind and tenant that may wait for a connection. */
const waitingMost = 1_000;

/** A statement waiting for a connection. */
interface Waiter {
  readonly take: (connection: Connection) => void;
}

/** Limits how many connections one kind of statement, or several kinds together, may use at the same time. */
export class Limit {
  readonly #most: number;
  readonly #mostOfOne: number;
  readonly #byTenant = new Map<string, number>();
  #running = 0;

  /**
   * @param most maximum number of connections
   * @param mostOfOne maximum number of connections per tenant
   */
  constructor(most: number, mostOfOne = most) {
    this.#most = most;
    this.#mostOfOne = mostOfOne;
  }

  hasRoom(tenant: string | undefined): boolean {
    if (this.#running >= this.#most) return false;
    return tenant === undefined || (this.#byTenant.get(tenant) ?? 0) < this.#mostOfOne;
  }

  /** @param difference 1 when a statement begins, -1 when it ends */
  count(tenant: string | undefined, difference: 1 | -1): void {
    this.#running += difference;
    if (tenant === undefined) return;
    const running = (this.#byTenant.get(tenant) ?? 0) + difference;
    if (running === 0) this.#byTenant.delete(tenant);
    else this.#byTenant.set(tenant, running);
  }
}

/**
 * Running and waiting statements of one kind that belong to one tenant. Statements of that kind without a tenant have a
 * line of their own.
 */
interface Line {
  readonly name: string;
  readonly tenant: string | undefined;
  readonly limits: readonly Limit[];
  running: number;
  /** Number of statements that have succeeded; it grows as long as the store responds. */
  ended: number;
}

/**
 * A few connections, each opened on first use. A statement gets the most recently used free connection, so that surplus
 * connections stay idle and are closed.
 *
 * A statement without a tenant waits for a connection for at most half of its deadline. For a tenant's statement, the
 * maximum varies between half and three quarters of the deadline. A started statement may run for the rest of its
 * deadline, and always for at least half of the deadline. So if a started statement takes too long, the cause is an
 * unresponsive server, not a long queue.
 *
 * Waiting tenants take turns, and each tenant may have all connections but one. So even if one tenant sends a flood of
 * statements, another tenant's statement, such as a revoke, waits for at most one statement to end.
 */
export class Pool {
  readonly #free: Connection[];
  readonly #connections: readonly Connection[];
  readonly #all: Limit;
  readonly #waiting = new RoundRobin<Waiter>();
  readonly #lines = new Map<string, Line>();
  #waits = 0;

  constructor(connect: Connect, size: number) {
    this.#connections = Array.from({ length: size }, () => new Connection(connect));
    this.#free = [...this.#connections];
    this.#all = new Limit(size, Math.max(1, size - 1));
  }

  /**
   * Returns a view of this pool in which every statement has this deadline, in milliseconds.
   *
   * @param kind kind of the statements. Kinds take turns like tenants do, so a tenant's reports do not delay its
   * changes, even on a single connection
   * @param limits limits on these statements, in addition to the pool's own
   */
  withDeadline(deadlineMs: number, kind = '', ...limits: readonly Limit[]): Runner {
    const within = [this.#all, ...limits];
    return { run: (work, tenant) => this.#run(work, deadlineMs, this.#lineOf(kind, tenant, within)) };
  }

  /** Current load of the pool. */
  get state(): PoolState {
    const most = this.#connections.length;
    return { inUse: most - this.#free.length, most, waiting: this.#waiting.size };
  }

  /** Closes every connection. Running statements get one second to finish, and waiting statements are rejected. */
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
    // Statements that a tenant sends together get different time limits. Rejecting them all at once would keep this
    // process busy, and other tenants waiting.
    const limitMs = line.tenant !== undefined ? halfMs * (1 + this.#spread() / 2) : halfMs;
    if (this.#waiting.sizeOf(line.name) >= waitingMost) return Promise.reject(tooManyRequests());
    const endedBefore = line.ended;
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        take: (connection) => {
          callOff();
          count(line, 1);
          resolve(connection);
        },
      };
      const callOff = systemTimers.after(limitMs, () => {
        this.#waiting.remove(line.name, waiter);
        this.#forget(line);
        // If other statements of this kind and tenant have succeeded during the wait, the store is responding, and the
        // tenant has sent too many.
        if (line.tenant !== undefined && line.ended > endedBefore) return reject(tooManyRequests());
        reject(unavailable(new Error(`no free connection to the store within ${limitMs} ms`)));
      });
      this.#waiting.add(line.name, waiter);
    });
  }

  /**
   * Returns a value from 0 to 1 that is far from the previous ones: the next multiple of the golden ratio, modulo 1.
   */
  #spread(): number {
    this.#waits = (this.#waits + 0.618034) % 1;
    return this.#waits;
  }

  #giveBack(connection: Connection): void {
    this.#free.push(connection);
    // The end of one statement can let two others start. One takes the connection that has become free. The other was
    // held back by a limit and takes a connection that was free before.
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
