/** Several replicas that share a limit, in virtual time, with whatever may come between them. */
import { Random } from '../coherence/random.ts';
import { noLimits, type Limits } from '../../../src/domain/limits/limits.ts';
import { SharedRateLimiter } from '../../../src/limits/rate/limiter.ts';
import type { Full, LimitedBy, Taken } from '../../../src/ports/limits/rate-limiter.ts';
import { elsewhere, ModelBuckets, ModelQuotas, type Net } from './model-stores.ts';
import { respond } from './one-limiter.ts';
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
  readonly random?: Random;
  readonly limits: Partial<Limits>;
  /** One for each replica: how fast its clock is. By default there are two. */
  readonly rates?: readonly number[];
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
  readonly buckets: ModelBuckets;
  readonly quotas: ModelQuotas;
  readonly replicas: Replica[] = [];
  /** Requests that have no answer yet. */
  waiting = 0;
  /** Nothing reaches the stores. */
  storesAway = false;
  limits: Limits;
  readonly #random: Random;
  readonly #net: Net;
  #asked = 0;
  #admitted = 0;
  #members: ReadonlySet<string> = new Set();
  readonly #by: LimitedBy;

  constructor({ random = new Random(1), limits, rates = [1, 1], ...way }: WorldOptions) {
    const { latencyMs = [0.5, 3], lost = 0 } = way;
    this.#random = random;
    this.limits = { ...noLimits, ...limits };
    this.#net = {
      latencyMs: () => random.between(...latencyMs),
      cut: (name) =>
        this.storesAway || this.replicas.some((each) => each.name === name && (each.cut || !each.alive)),
      lost: () => lost > 0 && random.chance(lost),
    };
    this.buckets = new ModelBuckets(() => this.time.nowMs);
    this.quotas = new ModelQuotas(() => Date.UTC(2026, 5, 15) + this.time.nowMs);
    const limitsNow = (): Limits => this.limits;
    this.#by = {
      ...({ kind: 'sub_account', id: 'a', shown: true } as const),
      get limits() {
        return limitsNow();
      },
    };
    this.#members = new Set(rates.map((_, i) => `r${i}`));
    for (const rate of rates) this.start(rate);
  }

  /** The limits are changed: in the store, then requests are under them. */
  change(limits: Partial<Limits>): void {
    const before = this.limits.requestsPerMonth;
    this.limits = { ...this.limits, ...limits };
    if (before === null && this.limits.requestsPerMonth !== null)
      this.quotas.restart('sub_account:a:month', this.admitted.total);
  }

  /** A replica comes. */
  start(rate = 1): Replica {
    const name = `r${this.replicas.length}`;
    const { clock, timers } = this.time.machine(rate, (this.#random.next() - 0.5) * 600_000);
    const limiter = new SharedRateLimiter({
      ...{ clock, timers },
      buckets: elsewhere(this.time, this.#net, name, (_, questions) => this.buckets.answer(questions)),
      quotas: elsewhere(this.time, this.#net, name, (...asked) => this.quotas.answer(...asked)),
      replicas: () => this.#members.size,
      events: { onDegraded: (degraded) => (replica.degraded = degraded) },
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

  /** One request. @param done is told the result, perhaps later @returns whether it was let through at once */
  ask(replica: Replica, done: (result: Taken | Full) => void = respond): boolean {
    const end = (result: Taken | Full): void => {
      this.waiting -= 1;
      if (!result.full && replica.alive) this.#admitted += 1;
      done(result);
    };
    if (!replica.alive) return false;
    this.#asked += 1;
    this.waiting += 1;
    const result = replica.limiter.take([this.#by], end);
    if (result !== null) end(result);
    return result !== null && !result.full;
  }

  /** Goes on to the next step, and notes what was asked for and let through since the last. */
  async step(): Promise<void> {
    await this.time.until((Math.floor(this.time.nowMs / stepMs) + 1) * stepMs);
    this.asked.add(this.#asked);
    this.admitted.add(this.#admitted);
    [this.#asked, this.#admitted] = [0, 0];
  }

  /** Nothing is asked for. @param ms is rounded up to whole steps */
  async rest(ms: number): Promise<void> {
    for (const end = this.time.nowMs + ms; this.time.nowMs < end;) await this.step();
  }

  /**
   * @param demand requests a second of each replica at an instant, milliseconds since the beginning
   * @param done is told the result of each request
   */
  async run(
    ms: number,
    demand: (nowMs: number) => readonly number[],
    done?: (result: Taken | Full) => void,
  ): Promise<void> {
    for (const end = this.time.nowMs + ms; this.time.nowMs < end;) {
      await this.step();
      const wanted = demand(this.time.nowMs);
      this.replicas.forEach((replica, i) => {
        for (let n = this.#poisson(((wanted[i] ?? 0) * stepMs) / 1000); n > 0; n--) this.ask(replica, done);
      });
    }
  }

  #poisson(mean: number): number {
    const limit = Math.exp(-mean);
    let n = 0;
    for (let p = this.#random.next(); p > limit; p *= this.#random.next()) n += 1;
    return n;
  }
}
