import type { LimitReport, PeerReport } from '../../ports/limits/share-board.ts';
import { rateAlone } from './alone.ts';
import { Peers } from './peers.ts';
import { tuning, type Fleet } from './tuning.ts';

/**
 * What this replica may let through of one limit by the second. It follows the bucket of all replicas (`level`), and takes
 * from its own part of it (`tokens`), which is filled by its share of the rate. All times are milliseconds of one clock.
 */
export class RateBucket {
  rate = 0;
  burst = 0;
  /** What this replica has let through. */
  used = 0;
  /** When it was last asked for. */
  askedMs = -Infinity;
  /** When it last read what others use. */
  readMs = -Infinity;
  /** Whether others may believe that this replica has demand. */
  announced = false;
  readonly series: number;
  #level = 0;
  #tokens = 0;
  #cap = 0;
  /** Of the tokens, below which it is worth to ask again. */
  #low = 0;
  /** Tokens a millisecond. */
  #refill = 0;
  #capacity = 0;
  #atMs: number;
  /** What the level did not take since the last reading, because it was full. */
  #spilled = 0;
  #asked = 0;
  #demand = 0;
  #demandMs: number;
  #share = 1;
  /** Since when it last heard of others it goes on by its share, and gets no first portion again. */
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
   * Takes up changed figures. What is left is cut to the new burst, and nothing is added: a larger bucket fills at its rate.
   * So the two keys of a rotation, which are one limit, let through no more in turns than the larger figures do.
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

  /** Whether there is room for one request. Counts it as asked for. */
  hasRoom(nowMs: number, fleet: Fleet): boolean {
    if (nowMs - this.askedMs > fleet.freshMs && nowMs - this.readMs > fleet.freshMs) this.#wake(nowMs, fleet);
    else this.#pass(nowMs);
    this.askedMs = nowMs;
    this.#asked += 1;
    return this.#tokens >= 1;
  }

  /** Takes one; to be called after {@link hasRoom} said so. */
  take(): void {
    this.#tokens -= 1;
    this.#level -= 1;
    this.used += 1;
  }

  /** Whether it is worth to read soon what others use: little is left here. */
  get isLow(): boolean {
    return this.#tokens < this.#low;
  }

  /** Requests that no report has told the others of. */
  get unreported(): number {
    return this.used - this.#reportedUse;
  }

  /** Whether nothing is missing from it: a new one would give no more. */
  isFullAt(nowMs: number, { degraded, replicas }: Fleet): boolean {
    this.#pass(nowMs);
    if (this.#level < this.#capacity) return false;
    return !degraded || !this.#alone || (this.#tokens >= this.#cap && this.#share >= unknownShare(replicas));
  }

  /** The larger of what this replica may give now and what is left over all. */
  remainingAt(nowMs: number): number {
    this.#pass(nowMs);
    return this.#tokens < 1 ? 0 : Math.floor(Math.max(this.#tokens, this.#level));
  }

  /** Milliseconds until a request may find room here. */
  waitMs(): number {
    return this.#refill <= 0 ? Infinity : Math.max(0, (1 - this.#tokens) / this.#refill);
  }

  /** What to tell the others. Of a limit that is not asked for any more it says so, once. */
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
   * Computes this replica's share from what the others said.
   *
   * @param reported what {@link report} returned for this reading: what was used since is not in it
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

  /** The store is away: from now on by its last share, by that from before the last change where that is smaller. */
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

  /** Time goes on: both buckets fill. */
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

  /** Asked for again after a while in which it did not hear of others. */
  #wake(nowMs: number, fleet: Fleet): void {
    this.#pass(nowMs);
    // It had its first portion, and none is due again: the others, who had theirs too, are not heard of.
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
    // Whole requests: the replica with the smallest share may still let one through while there is one.
    const held = alone
      ? level
      : Math.max(tuning.held * this.#share * (level + since) - since, Math.min(1, level));
    this.#cap = Math.max(1, this.#share * this.#capacity);
    this.#tokens = Math.max(0, held);
    this.#low = alone ? 0 : Math.max(1, this.#tokens / 2);
  }

  /** What others used since the last reading is taken off; where another replica knows of more, that counts. */
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

/** Of the rate, while nothing is known of the others: half of an equal part, since some of them may have all of it. */
function unknownShare(replicas: number): number {
  return 1 / (2 * replicas);
}
