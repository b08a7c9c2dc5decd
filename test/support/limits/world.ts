/** Several replicas that share a limit, in virtual time, with whatever may come between them. */
import { noLimits, type Limits } from '../../../src/domain/limits/limits.ts';
import { SharedRateLimiter } from '../../../src/limits/rate/limiter.ts';
import type { LimitedBy } from '../../../src/ports/limits/rate-limiter.ts';
import { ModelBoard, ModelTotals, type Net } from './model-stores.ts';
import { VirtualTime } from './virtual-time.ts';
import { Counts } from './windows.ts';

const stepMs = 5;

export interface Replica {
  readonly name: string;
  readonly limiter: SharedRateLimiter;
  alive: boolean;
  /** It cannot reach the stores. */
  cut: boolean;
  degraded: boolean;
}

export interface WorldOptions {
  readonly random: () => number;
  readonly limits: Partial<Limits>;
  /** One for each replica: how fast its clock is. */
  readonly rates: readonly number[];
  readonly latencyMs?: readonly [least: number, most: number];
  /** Part of the responses that are lost. */
  readonly lost?: number;
}

/** After this the others know that a replica is gone. */
const leaseMs = 3_000;

export class World {
  readonly time = new VirtualTime();
  readonly admitted = new Counts(stepMs);
  readonly asked = new Counts(stepMs);
  readonly board: ModelBoard;
  readonly totals: ModelTotals;
  readonly replicas: Replica[] = [];
  /** Quotas near their end that replicas have told of: who, and which. */
  readonly toldNearEnd: string[] = [];
  /** Nothing reaches the stores. */
  storesAway = false;
  limits: Limits;
  readonly #random: () => number;
  #members: ReadonlySet<string> = new Set();
  readonly #by: LimitedBy;

  constructor({ random, limits, rates, latencyMs = [0.5, 3], lost = 0 }: WorldOptions) {
    this.#random = random;
    this.limits = { ...noLimits, ...limits };
    const net: Net = {
      latencyMs: () => latencyMs[0] + random() * (latencyMs[1] - latencyMs[0]),
      cut: (name) =>
        this.storesAway || this.replicas.some((each) => each.name === name && (each.cut || !each.alive)),
      lost: () => lost > 0 && random() < lost,
    };
    this.board = new ModelBoard(this.time, net);
    this.totals = new ModelTotals(this.time, net, Date.UTC(2026, 5, 15));
    const limitsNow = (): Limits => this.limits;
    this.#by = {
      kind: 'sub_account',
      id: 'a',
      shown: true,
      get limits() {
        return limitsNow();
      },
    };
    this.#members = new Set(rates.map((_, i) => `r${i}`));
    for (const rate of rates) this.start(rate);
  }

  /** The limits are changed: in the store, then each replica is told, and requests after this are under them. */
  change(limits: Partial<Limits>): void {
    this.totals.change('sub_account:a', { ...this.limits, ...limits }.requestsPerMonth);
    for (const { alive, limiter } of this.replicas) if (alive) limiter.changed('a');
    this.limits = { ...this.limits, ...limits };
  }

  /** A replica comes. */
  start(rate = 1): Replica {
    const name = `r${this.replicas.length}`;
    const { clock, timers } = this.time.machine(rate, (this.#random() - 0.5) * 600_000);
    const limiter = new SharedRateLimiter({
      ...{ board: this.board, totals: this.totals, clock, timers },
      replicas: () => this.#members,
      replicaId: () => name,
      randomId: () => `m-${name}`,
      events: {
        onDegraded: (degraded) => (replica.degraded = degraded),
        onQuotaNearEnd: (limit) => this.toldNearEnd.push(`${name} ${limit}`),
      },
    });
    const replica: Replica = { name, limiter, alive: true, cut: false, degraded: false };
    this.replicas.push(replica);
    this.#members = new Set([...this.#members, name]);
    limiter.start();
    return replica;
  }

  /** A replica is killed: what it has not told is lost, and the others know after a while. */
  kill(replica: Replica): void {
    replica.alive = false;
    this.time.after(
      leaseMs,
      () => (this.#members = new Set([...this.#members].filter((name) => name !== replica.name))),
    );
  }

  /** One request. */
  ask(replica: Replica): boolean {
    return replica.alive && !replica.limiter.take([this.#by]).full;
  }

  /** @param demand requests a second of each replica at an instant, milliseconds since the beginning */
  async run(ms: number, demand: (nowMs: number) => readonly number[]): Promise<void> {
    const end = this.time.nowMs + ms;
    while (this.time.nowMs < end) {
      await this.time.until(this.time.nowMs + stepMs);
      const wanted = demand(this.time.nowMs);
      let admitted = 0;
      let asked = 0;
      this.replicas.forEach((replica, i) => {
        for (let n = this.#poisson(((wanted[i] ?? 0) * stepMs) / 1000); n > 0; n--) {
          asked += 1;
          if (this.ask(replica)) admitted += 1;
        }
      });
      this.asked.add(asked);
      this.admitted.add(admitted);
    }
  }

  #poisson(mean: number): number {
    const limit = Math.exp(-mean);
    let n = 0;
    for (let p = this.#random(); p > limit; p *= this.#random()) n += 1;
    return n;
  }
}
