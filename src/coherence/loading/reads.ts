import { RoundRobin } from '../../domain/round-robin.ts';
import type { ProblemError } from '../../domain/problem.ts';
import type { Clock } from '../../ports/clock.ts';
import type { FactKey, FactReading } from '../../ports/facts.ts';
import type { Timers } from '../../ports/timers.ts';
import { overloaded, unavailable } from '../unavailable.ts';
import type { Timing } from '../timing.ts';

/**
 * Limits on reads and on waiting facts. Facts wait in queues: one queue per tenant or, for API keys, one per client
 * network. The queues take turns.
 */
export interface ReadsLimits {
  /** Maximum number of concurrent reads. */
  readonly readings: number;
  /** Maximum number of facts in one read. */
  readonly facts: number;
  /** Maximum number of facts from one queue in one read. */
  readonly ofOne: number;
  /** Maximum number of facts that a queue adds to a read in one turn. */
  readonly turn: number;
  /** Maximum number of facts in one queue. */
  readonly waitingOfOne: number;
  /** Maximum number of facts in all queues together. */
  readonly waiting: number;
  /** Minimum number of milliseconds between the starts of two reads, unless enough facts are waiting to fill a read. */
  readonly gatherMs: number;
  /**
   * Longest pause, in milliseconds, of a queue that still has facts after a read. The pause lasts as long as the read
   * took, up to this maximum. If the maximum is 0, there are no pauses, and a queue may take part in several reads at a
   * time.
   */
  readonly pauseMs: number;
  /** Makes the error for a call whose queue is full. */
  readonly tooMuchOfOne: () => ProblemError;
}

interface Waiting {
  readonly key: FactKey;
  readonly sinceMs: number;
  readonly resolve: (reading: FactReading) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Reads facts from the source. Facts wait in queues, one for each tenant or client network. Each read takes a few facts
 * from each queue in turn. A tenant with one fact therefore need not wait for the thousands of another tenant. A
 * thousand queues with one fact each are served in a few reads.
 *
 * Results are processed on this process's only thread, and one queue must not keep it busy. So a queue that still has
 * facts after a read pauses for as long as the read took, but at most for `pauseMs`.
 */
export class Reads {
  readonly #clock: Clock;
  readonly #timers: Timers;
  readonly #mayWaitMs: number;
  readonly #limits: ReadsLimits;
  readonly #read: (keys: readonly [FactKey, ...FactKey[]]) => Promise<FactReading>;
  readonly #waiting = new RoundRobin<Waiting>();
  /** Queues that must not join a read, because their facts are being read or they pause. Empty if `pauseMs` is 0. */
  readonly #busy = new Set<string>();
  #readings = 0;
  #nextMs = -Infinity;
  #gathering = false;
  #expiring = false;

  /** @param read reads facts; settles within {@link Timing.storeMs} */
  constructor(
    { clock, timers }: { readonly clock: Clock; readonly timers: Timers },
    { lookUpMs, storeMs }: Timing,
    limits: ReadsLimits,
    read: (keys: readonly [FactKey, ...FactKey[]]) => Promise<FactReading>,
  ) {
    this.#clock = clock;
    this.#timers = timers;
    this.#mayWaitMs = lookUpMs - storeMs;
    this.#limits = limits;
    this.#read = read;
  }

  /**
   * Returns a reading that contains the fact and possibly other facts. The read begins after this call.
   *
   * Rejects if too many facts are waiting to be read, in this queue or in all queues together. Rejects with
   * `unavailable` if the fact cannot be read within {@link Timing.lookUpMs}. If the read fails, rejects with the read's
   * error.
   *
   * @param asker names the queue: it is the tenant that needs the fact or, for an API key, the client's network
   */
  read(key: FactKey, asker: string): Promise<FactReading> {
    const { waitingOfOne, waiting, tooMuchOfOne } = this.#limits;
    if (this.#waiting.sizeOf(asker) >= waitingOfOne) return Promise.reject(tooMuchOfOne());
    if (this.#waiting.size >= waiting) return Promise.reject(overloaded());
    return new Promise((resolve, reject) => {
      this.#waiting.add(asker, { key, sinceMs: this.#clock.monotonicMs(), resolve, reject });
      this.#begin();
      this.#expire();
    });
  }

  #begin(): void {
    while (this.#waiting.size > 0 && this.#readings < this.#limits.readings) {
      const nowMs = this.#clock.monotonicMs();
      if (nowMs < this.#nextMs && this.#waiting.size < this.#limits.facts)
        return this.#beginIn(this.#nextMs - nowMs);
      const askers = new Map<string, number>();
      const [first, ...others] = this.#nextBatch(askers);
      if (first === undefined) return;
      this.#nextMs = nowMs + this.#limits.gatherMs;
      this.#readFor([first, ...others], askers);
    }
  }

  #readFor(batch: readonly [Waiting, ...Waiting[]], askers: ReadonlyMap<string, number>): void {
    const beganMs = this.#clock.monotonicMs();
    this.#readings += 1;
    if (this.#limits.pauseMs > 0) for (const asker of askers.keys()) this.#busy.add(asker);
    const [first, ...others] = batch;
    this.#read([first.key, ...others.map(({ key }) => key)])
      .then(
        (reading) => batch.forEach(({ resolve }) => resolve(reading)),
        (error: unknown) => batch.forEach(({ reject }) => reject(error)),
      )
      .finally(() => {
        this.#readings -= 1;
        this.#release([...askers.keys()], this.#clock.monotonicMs() - beganMs);
        this.#begin();
      });
  }

  /**
   * Takes facts from each queue in turn until there are enough to fill a read.
   *
   * @param askers filled in with the number of facts taken from each queue
   */
  #nextBatch(askers: Map<string, number>): Waiting[] {
    const { facts, ofOne, turn } = this.#limits;
    const batch: Waiting[] = [];
    const mayTake = (asker: string): boolean => !this.#busy.has(asker) && (askers.get(asker) ?? 0) < ofOne;
    while (batch.length < facts) {
      const taken = this.#waiting.take(Math.min(turn, facts - batch.length), mayTake);
      if (taken === undefined) break;
      const inTime = taken.things.filter((waiting) => this.#isInTime(waiting));
      if (inTime.length > 0) askers.set(taken.tenant, (askers.get(taken.tenant) ?? 0) + inTime.length);
      batch.push(...inTime);
    }
    return batch;
  }

  /** Lets a finished read's queues join the next read. If `pauseMs` > 0, queues that still have facts pause first. */
  #release(askers: readonly string[], tookMs: number): void {
    const waiting = askers.filter((asker) => this.#busy.delete(asker) && this.#waiting.sizeOf(asker) > 0);
    if (waiting.length === 0 || tookMs === 0) return;
    for (const asker of waiting) this.#busy.add(asker);
    this.#timers.after(Math.min(tookMs, this.#limits.pauseMs), () => {
      for (const asker of waiting) this.#busy.delete(asker);
      for (const asker of waiting) this.#waiting.moveBack(asker);
      this.#begin();
    });
  }

  /**
   * Returns whether a fact can still be read in time. If not, rejects the call that waits for the fact, because the
   * call would time out before a new read could finish.
   */
  #isInTime({ sinceMs, reject }: Waiting): boolean {
    if (this.#clock.monotonicMs() - sinceMs <= this.#mayWaitMs) return true;
    reject(unavailable());
    return false;
  }

  /**
   * Rejects calls that have waited too long for their fact, and checks again as long as any calls are waiting. All
   * calls share one timer. With a timer for each call, a flood of made-up keys would create too many timers.
   */
  #expire(): void {
    if (this.#expiring || this.#waiting.size === 0) return;
    this.#expiring = true;
    this.#timers.after(this.#mayWaitMs / 4, () => {
      this.#expiring = false;
      this.#waiting.takeWhile((waiting) => !this.#isInTime(waiting));
      this.#expire();
    });
  }

  #beginIn(ms: number): void {
    if (this.#gathering) return;
    this.#gathering = true;
    this.#timers.after(ms, () => {
      this.#gathering = false;
      this.#begin();
    });
  }
}
