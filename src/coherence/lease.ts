import type { Clock } from '../ports/clock.ts';
import type { CoherenceLog, LogReading } from '../ports/coherence-log.ts';
import type { FactKey, Seq } from '../ports/facts.ts';
import type { ReplicaNote } from '../ports/replica-list.ts';
import type { Timers } from '../ports/timers.ts';
import { Backoff } from '../timing/backoff.ts';
import type { CoherenceEvents } from './events.ts';
import { retryPauses, type Timing } from './timing.ts';
import { unavailable } from './unavailable.ts';
import type { StoreClock } from './store-clock.ts';
import type { View } from './memory/view.ts';
import type { Revocations } from './revocations.ts';

export interface LeaseParts {
  readonly log: CoherenceLog;
  readonly view: View;
  readonly revocations: Revocations;
  /** Removes facts from the shared cache. */
  readonly forget?: (keys: readonly FactKey[]) => void;
  readonly clock: Clock;
  /** Updated with the store's time at each renewal. */
  readonly storeClock: StoreClock;
  readonly timers: Timers;
  readonly timing: Timing;
  /**
   * Returns the minimum number of milliseconds between the starts of two passes over the log, if the second pass
   * follows a hint of new log entries. Renewals ignore this minimum.
   */
  readonly paceMs: () => number;
  readonly events: CoherenceEvents;
  /** Returns a new, unguessable string on each call. */
  readonly randomId: () => string;
  readonly about?: ReplicaNote | undefined;
  /** Called after this replica has started over. At that time, every fact in memory is unproven. */
  readonly onBegunAnew?: () => void;
  /**
   * Called with the error once two passes in a row have failed, and with `undefined` on the first success after that.
   */
  readonly onHealth: (error: unknown) => void;
}

/** Maximum number of log entries per read, small enough for the read to finish long before the statement times out. */
const mostEntries = 10_000;

interface Waiter {
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * This replica's right to decide from its view until a deadline. A pass reads the log and, if it is a renewal, extends
 * the deadline. Passes never overlap, so log entries are applied in order.
 */
export class Lease {
  readonly #parts: LeaseParts;
  readonly #backoff: Backoff;
  #id: string;
  #nonce = '';
  #acked: Seq = -1;
  #streamsEnded = 0;
  /**
   * What the entries since the last confirmed position have caused. A pass that fails between two pages leaves it for
   * the next pass, which does not read the first page again.
   */
  #unconfirmed: { ended: number; counts?: Promise<void> | undefined } = { ended: 0 };
  /**
   * Whether the lease was granted and has not been given up since. A lease that merely ran out has not been given up.
   */
  #granted = false;
  #renewAt = -Infinity;
  #pauseUntil = -Infinity;
  #hinted = false;
  /** Start of the last pass, in milliseconds on the monotonic clock. */
  #passedMs = -Infinity;
  /** Start of the last pass that confirmed its position, in milliseconds on the monotonic clock. */
  #readMs = -Infinity;
  #renewalWaiters: Waiter[] = [];
  #passWaiters: (() => void)[] = [];
  #wake: () => void = () => undefined;
  #leaving = false;
  #stopped = false;
  #callOffEnd: () => void = () => undefined;
  #running: Promise<void> | undefined;

  constructor(parts: LeaseParts) {
    this.#parts = parts;
    this.#backoff = new Backoff(retryPauses.firstMs, retryPauses.longestMs);
    this.#id = parts.randomId();
  }

  /** This replica's id, which changes whenever the replica forgets everything. */
  get id(): string {
    return this.#id;
  }

  /**
   * Number of streams ended by the last pass that found new changes. The number appears in this replica's row slightly
   * later.
   */
  get streamsEnded(): number {
    return this.#streamsEnded;
  }

  /**
   * When the last pass began that confirmed its position, in milliseconds on the monotonic clock. Facts in memory
   * include every change that was committed before.
   */
  get readMs(): number {
    return this.#readMs;
  }

  /** Milliseconds until the lease runs out; negative afterwards. */
  get remainingMs(): number {
    return this.#parts.view.remainingMs(this.#parts.clock);
  }

  /** Whether the lease is still running. */
  holds(): boolean {
    return this.#parts.view.mayDecide(this.#parts.clock);
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Notes in this replica's row that it is about to shut down. The replica keeps deciding until {@link stop}. */
  leave(): void {
    this.#leaving = true;
    this.#renewAt = -Infinity;
    this.#wake();
  }

  /** Gives up the lease and deletes this replica's row, so that no writer waits for it. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#lapse();
    this.#endOnceDue();
    this.#wake();
    await this.#running;
    this.#rejectWaiters(unavailable());
    if (this.#nonce !== '') await this.#deregister().catch(() => undefined);
  }

  /**
   * Resolves after the next renewal, which may already be under way. Rejects with `unavailable` if renewals keep
   * failing.
   */
  renewed(): Promise<void> {
    // While the store is known to be down, requests are rejected at once instead of waiting for the next attempt.
    if (this.#stopped || this.#backoff.failures > 1) return Promise.reject(unavailable());
    return new Promise((resolve, reject) => {
      this.#renewalWaiters.push({ resolve, reject });
      this.#wake();
    });
  }

  /** Makes this replica read the log soon and confirm how far it got. Does not extend the lease. */
  hint(): void {
    this.#hinted = true;
    this.#wake();
  }

  /** Like {@link hint}. Resolves at the end of the next pass that begins after this call, even if that pass fails. */
  caughtUp(): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    return new Promise((resolve) => {
      this.#passWaiters.push(resolve);
      this.hint();
    });
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      const pauseMs = this.#pauseMs();
      if (pauseMs > 0) await this.#sleep(pauseMs);
      else await this.#attempt();
    }
    for (const resolve of this.#passWaiters.splice(0)) resolve();
  }

  #pauseMs(): number {
    const now = this.#parts.clock.monotonicMs();
    const hintMs = this.#hinted ? this.#passedMs + this.#parts.paceMs() : Infinity;
    const wantedMs = this.#renewalWaiters.length > 0 ? now : Math.min(hintMs, this.#renewAt);
    return Math.max(this.#pauseUntil - now, wantedMs - now);
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#parts.timers.after(ms, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
  }

  async #attempt(): Promise<void> {
    const { clock, events, onHealth } = this.#parts;
    const renewing = this.#renewalWaiters.length > 0 || clock.monotonicMs() >= this.#renewAt;
    const passWaiters = this.#passWaiters.splice(0);
    this.#hinted = false;
    this.#passedMs = clock.monotonicMs();
    try {
      await this.#pass(renewing);
      if (this.#backoff.failures > 1) onHealth(undefined);
      this.#backoff.succeeded();
      if (renewing) for (const waiter of this.#renewalWaiters.splice(0)) waiter.resolve();
    } catch (error) {
      this.#pauseUntil = clock.monotonicMs() + this.#backoff.failed();
      this.#renewAt = this.#pauseUntil;
      events.leaseRenewalFailed?.(error);
      if (this.#backoff.failures === 2) onHealth(error);
      if (this.#backoff.failures > 1) this.#rejectWaiters(unavailable(error));
    }
    for (const resolve of passWaiters) resolve();
  }

  /**
   * Makes one pass. Its steps are safe only in this order (`docs/maintainers/coherence.md`):
   *
   * - Read the clocks. An extended lease counts from this time.
   * - Commit this replica's row, if this is a renewal.
   * - Read the log page by page until a page reaches the newest position of its snapshot. An earlier page may lack
   *   changes that later changes have replaced.
   * - End the exchanges that the changes revoke.
   * - Confirm the position.
   * - Extend the lease, if this is a renewal.
   */
  async #pass(renewing: boolean): Promise<void> {
    const { log, view, revocations, clock, timing, events } = this.#parts;
    const monotonicMs = clock.monotonicMs();
    const wallMs = clock.wallMs();
    const wasHeld = this.holds();
    let confirmed = this.#acked;
    if (renewing) {
      if (!wasHeld && this.#granted) events.leaseLapsed?.();
      confirmed = await this.#register();
    }
    const unconfirmed = this.#unconfirmed;
    let reading: LogReading;
    do {
      reading = await log.readAfter(view.through, mostEntries);
      // The counts so far belong to the position before the page: later requests are decided by the new quota.
      if (reading.entries.some(({ key }) => key.startsWith('q:'))) unconfirmed.counts = events.quotaSet?.();
      const taken = view.take(reading);
      if (taken === 'lost') return this.#beginAnew();
      unconfirmed.ended += revocations.announce(taken.revoked) + this.#endDiffered(taken.differed);
      revocations.announceChanged(taken.changedKeys);
      this.#forget(reading);
    } while (reading.through < reading.seq);
    if (reading.seq !== this.#acked) this.#streamsEnded = unconfirmed.ended;
    await unconfirmed.counts;
    // A position that was confirmed before is confirmed again if this replica's row might lack it: a store crash may
    // have undone the confirmation, or the row may have been deleted after the lease ran out.
    if (reading.seq !== this.#acked || confirmed !== this.#acked || !wasHeld) {
      await log.ack(this.#id, reading.seq, this.#streamsEnded);
      this.#acked = reading.seq;
    }
    this.#unconfirmed = { ended: 0 };
    this.#readMs = monotonicMs;
    if (!renewing || this.#stopped) return;
    const usableMs = timing.leaseMs - timing.marginMs;
    view.decideUntil(monotonicMs + usableMs, wallMs + usableMs, timing.passMs);
    this.#endOnceDue();
    this.#granted = true;
    this.#renewAt = monotonicMs + timing.renewEveryMs;
    events.leaseRenewed?.(clock.monotonicMs() - monotonicMs);
  }

  /**
   * Ends the exchanges that depend on facts whose values in memory were wrong, just as a revocation would. Returns how
   * many exchanges ended.
   */
  #endDiffered(differed: ReadonlySet<FactKey>): number {
    if (differed.size === 0) return 0;
    const { revocations, events } = this.#parts;
    events.factsDiffered?.(differed);
    return revocations.announce(differed);
  }

  /**
   * Removes changed accounts and external ids from the shared cache, so that it does not keep the names of deleted
   * accounts. Decisions do not depend on that: the stamps of these values are too old.
   */
  #forget({ entries }: LogReading): void {
    const keys = entries.map(({ key }) => key).filter((key) => key.startsWith('a:') || key.startsWith('x:'));
    if (keys.length > 0) this.#parts.forget?.(keys);
  }

  /**
   * Registers this replica with a new nonce. Returns the position that the replica's row shows as confirmed; 0 if there
   * was no row.
   */
  async #register(): Promise<Seq> {
    const { log, timing, randomId, about, clock, storeClock } = this.#parts;
    const { leaseMs, streamsMs } = timing;
    this.#nonce = randomId();
    const note = about && { ...about, leaving: this.#leaving };
    const sentMs = clock.monotonicMs();
    const { acked, nowMs } = await log.register({
      ...{ id: this.#id, nonce: this.#nonce, leaseMs, streamsMs, note },
      clockAheadMs: storeClock.aheadMs,
    });
    storeClock.learn(nowMs, sentMs);
    return acked;
  }

  /** Forgets all facts, because the log no longer continues from this replica's position. */
  async #beginAnew(): Promise<void> {
    const { view, randomId, events } = this.#parts;
    this.#lapse();
    view.forget();
    this.#endOnceDue();
    events.forgotten?.();
    await this.#deregister().catch(() => undefined);
    this.#id = randomId();
    this.#acked = -1;
    this.#unconfirmed = { ended: 0 };
    await this.#pass(true);
    this.#parts.onBegunAnew?.();
  }

  /** Ends all exchanges that depend on facts once no byte may pass for them, if the lease is not renewed until then. */
  #endOnceDue(): void {
    const { view, clock, timers, revocations } = this.#parts;
    this.#callOffEnd();
    this.#callOffEnd = () => undefined;
    if (!view.mayPass(clock)) revocations.announceAll();
    else this.#callOffEnd = timers.after(view.passMs(clock), () => this.#endOnceDue());
  }

  #deregister(): Promise<void> {
    return this.#parts.log.removeReplica(this.#id, this.#nonce);
  }

  #lapse(): void {
    this.#parts.view.decideUntil(-Infinity, -Infinity);
    this.#granted = false;
  }

  #rejectWaiters(error: unknown): void {
    for (const waiter of this.#renewalWaiters.splice(0)) waiter.reject(error);
  }
}
