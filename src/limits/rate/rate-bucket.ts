import type { LimitReport, PeerReport } from '../../ports/limits/share-board.ts';
import { rateAlone } from './alone.ts';
import { Peers } from './peers.ts';
import { tuning, type Fleet } from './tuning.ts';

/**
 * One limit by the second, as this replica may use it. It follows the bucket of all replicas (`level`), and takes from
 * its own part (`tokens`), which its share of the rate fills. All times are milliseconds of one clock.
 */
export class RateBucket {
  rate = 0;
  burst = 0;
  /** Requests that this replica has admitted. */
  used = 0;
  /** Time of the last request. */
  askedMs = -Infinity;
  /** Time of the last reading of the others' use. */
  readMs = -Infinity;
  /** Whether others may believe that this replica has demand. */
  announced = false;
  readonly series: number;
  #level = 0;
  #tokens = 0;
  #cap = 0;
  /** Number of tokens below which a new reading is worthwhile. */
  #low = 0;
  /** Tokens per millisecond. */
  #refill = 0;
  #capacity = 0;
  #atMs: number;
  /** Tokens that the level could not take since the last reading, because it was full. */
  #spilled = 0;
  #asked = 0;
  #demand = 0;
  #demandMs: number;
  #share = 1;
  /** Whether it uses its last share because it cannot hear from the others; it gets no first portion again. */
  #alone = false;
  #settled: { share: number; atMs: number };
  #reportedUse = 0;
  readonly #peers = new Peers();

  /** @param series see {@link LimitReport} */
  constructor(rate: number, burst: number, fleet: Fleet, nowMs: number, series: number) {
    this.series = series;
    this.#atMs = nowMs;
    this.#demandMs = nowMs;
    this.#settled = { share: 1, atMs: nowMs };
    this.#set(rate, burst, fleet);
    this.#level = this.#capacity;
    this.#beUnknown(fleet);
    if (fleet.degraded) this.goOnAlone(fleet);
  }

  /**
   * Applies changed figures. Tokens are cut to the new burst, and none are added: a larger bucket fills at its rate. So
   * the two keys of a rotation, which share one limit, admit no more in turns than the larger figures allow.
   */
  change(rate: number, burst: number, fleet: Fleet, nowMs: number): void {
    this.#pass(nowMs);
    this.#refill *= rate / this.rate;
    this.#set(rate, burst, fleet);
    this.#level = Math.min(this.#level, this.#capacity);
    this.#cap = Math.max(1, this.#share * this.#capacity);
    this.#tokens = Math.min(this.#tokens, this.#cap);
    if (this.#alone) this.goOnAlone(fleet);
  }

  /** Whether there is room for one request, which counts as demand. */
  hasRoom(nowMs: number, fleet: Fleet): boolean {
    if (nowMs - this.askedMs > fleet.freshMs && nowMs - this.readMs > fleet.freshMs) this.#wake(nowMs, fleet);
    else this.#pass(nowMs);
    this.askedMs = nowMs;
    this.#asked += 1;
    return this.#tokens >= 1;
  }

  /** Takes one token, after {@link hasRoom} returned true. */
  take(): void {
    this.#tokens -= 1;
    this.#level -= 1;
    this.used += 1;
  }

  /** Whether few tokens are left, so that a reading of the others' use is worthwhile soon. */
  get isLow(): boolean {
    return this.#tokens < this.#low;
  }

  /** Requests that no report has contained yet. */
  get unreported(): number {
    return this.used - this.#reportedUse;
  }

  /** Whether the bucket is full: a new one would give no more. */
  isFullAt(nowMs: number, { degraded, replicas }: Fleet): boolean {
    this.#pass(nowMs);
    if (this.#level < this.#capacity) return false;
    return !degraded || !this.#alone || (this.#tokens >= this.#cap && this.#share >= unknownShare(replicas));
  }

  /** Tokens that this replica may give now, or those left over all replicas if these are more. */
  remainingAt(nowMs: number): number {
    this.#pass(nowMs);
    return this.#tokens < 1 ? 0 : Math.floor(Math.max(this.#tokens, this.#level));
  }

  /** Milliseconds until a request may find room here. */
  waitMs(): number {
    return this.#refill <= 0 ? Infinity : Math.max(0, (1 - this.#tokens) / this.#refill);
  }

  /** Returns the report to the others. A limit without requests is reported once more, with no demand. */
  report(limit: string, { freshMs }: Fleet, nowMs: number): LimitReport {
    this.#pass(nowMs);
    this.#estimate(nowMs);
    this.#reportedUse = this.used;
    const idle = nowMs - this.askedMs > freshMs;
    this.announced = !idle;
    const demand = idle ? 0 : this.#demand;
    return { limit, series: this.series, used: this.used, demand, level: this.#level, share: this.#share };
  }

  /**
   * Computes this replica's share from the reports of the others.
   *
   * @param reported result of {@link report} for this reading; later use is not in it
   */
  read(reports: readonly PeerReport[], reported: LimitReport, fleet: Fleet, nowMs: number): void {
    this.#pass(nowMs);
    this.#set(this.rate, this.burst, fleet);
    this.#followLevel(reports, fleet, nowMs);
    this.#alone = false;
    this.readMs = nowMs;
    const share = this.#peers.shareOf(this.#demand, this.rate, fleet, nowMs);
    if (nowMs - this.#settled.atMs >= tuning.freshMs / 4) this.#settled = { share: this.#share, atMs: nowMs };
    this.#share = share;
    const debt = Math.min(0, this.#level) / (tuning.paybackS * this.rate);
    this.#refill = (share * this.rate * Math.max(tuning.least, 1 + debt)) / 1000;
    const since = this.used - reported.used;
    this.#fillOwn(fleet, since);
  }

  /** Continues without the store, at the last share, or at the one before the last change if that is smaller. */
  goOnAlone({ replicas }: Fleet): void {
    if (!this.#alone) this.#share = Math.min(this.#share, this.#settled.share);
    this.#alone = true;
    this.#refill = rateAlone(this.#share, this.rate, replicas) / 1000;
    this.#cap = Math.max(1, this.#share * this.#capacity);
    this.#tokens = Math.min(this.#tokens, this.#cap);
  }

  #set(rate: number, burst: number, { replicas }: Fleet): void {
    this.rate = rate;
    this.burst = burst;
    this.#capacity = Math.max(1, burst) + (replicas > 1 ? tuning.slackS * rate : 0);
  }

  /** Fills both buckets for the time that has passed. */
  #pass(nowMs: number): void {
    const ms = nowMs - this.#atMs;
    if (ms <= 0) return;
    this.#atMs = nowMs;
    const tokens = this.#tokens + ms * this.#refill;
    this.#tokens = tokens > this.#cap ? Math.max(this.#cap, this.#tokens) : tokens;
    const level = this.#level + (ms * this.rate) / 1000;
    if (level > this.#capacity) {
      this.#spilled += level - this.#capacity;
      this.#level = this.#capacity;
    } else this.#level = level;
  }

  /** Begins anew with the first request after a while without readings. */
  #wake(nowMs: number, fleet: Fleet): void {
    this.#pass(nowMs);
    // It had its first portion and gets no other: the other replicas had theirs, too, and cannot be heard.
    if (fleet.degraded && this.#alone) return;
    this.#demand = 0;
    this.#asked = 0;
    this.#demandMs = nowMs;
    this.#set(this.rate, this.burst, fleet);
    this.#beUnknown(fleet);
    if (fleet.degraded) this.goOnAlone(fleet);
  }

  #beUnknown(fleet: Fleet): void {
    this.#alone = false;
    const { replicas } = fleet;
    if (replicas <= 1) {
      this.#share = 1;
      this.#refill = this.rate / 1000;
      this.#fillOwn(fleet);
      return;
    }
    const share = unknownShare(replicas);
    this.#share = share;
    this.#settled.share = share;
    this.#refill = (share * this.rate) / 1000;
    const first = (tuning.unknownS * this.rate + tuning.unknownBurst * this.burst) / replicas;
    this.#cap = Math.max(1, first);
    this.#tokens = Math.min(this.#cap, Math.max(0, this.#level));
    this.#low = Math.max(1, this.#tokens / 2);
  }

  #fillOwn({ replicas }: Fleet, since = 0): void {
    const level = Math.max(0, this.#level);
    const alone = replicas <= 1;
    // Keeps whole requests: the replica with the smallest share may still admit one while one is left.
    const held = alone
      ? level
      : Math.max(tuning.held * this.#share * (level + since) - since, Math.min(1, level));
    this.#cap = Math.max(1, this.#share * this.#capacity);
    this.#tokens = Math.max(0, held);
    this.#low = alone ? 0 : Math.max(1, this.#tokens / 2);
  }

  /** Subtracts the others' use since the last reading; if another replica knows a lower level, that one counts. */
  #followLevel(reports: readonly PeerReport[], { replicas }: Fleet, nowMs: number): void {
    const { used, level } = this.#peers.note(
      reports,
      this.rate,
      this.#capacity,
      nowMs,
      nowMs - this.#demandMs,
    );
    const taken = used - Math.min(used, this.#spilled);
    this.#spilled = 0;
    const mostDebt = tuning.mostDebtS * this.rate + tuning.unknownBurst * this.burst + replicas;
    this.#level = Math.max(-mostDebt, Math.min(this.#level - taken, level, this.#capacity));
  }

  #estimate(nowMs: number): void {
    const ms = nowMs - this.#demandMs;
    if (ms < 1) return;
    const weight = 1 - Math.exp(-ms / tuning.demandMs);
    this.#demand += ((this.#asked * 1000) / ms - this.#demand) * weight;
    this.#asked = 0;
    this.#demandMs = nowMs;
  }
}

/** Share of the rate while nothing is known about the others: half an equal part, since some may have all of it. */
function unknownShare(replicas: number): number {
  return 1 / (2 * replicas);
}
