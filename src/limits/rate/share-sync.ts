import type { Clock } from '../../ports/clock.ts';
import type { PeerReport, ShareBoard } from '../../ports/limits/share-board.ts';
import type { Timers } from '../../ports/timers.ts';
import { Alarm } from './alarm.ts';
import type { KnownFleet } from './known-fleet.ts';
import type { Limited } from './limited.ts';
import type { RateBucket } from './rate-bucket.ts';
import type { PacedClock } from './paced-clock.ts';

/** Between two exchanges of a limit in use. */
const everyMs = 250;
/** Between an exchange and an earlier one, for what has little left; doubles for a limit that has little left again. */
const soonMs = 25;
/** Reports of one exchange at most; the others of a round come with the next ones, back to back. */
const mostReports = 1_000;
/** Without an exchange for this long, this replica goes on by its last shares. */
const degradedMs = 1_000;
/** Of a limit that it hears nothing of, a replica lets through this part of a second's worth without telling. */
const untold = 0.02;

export interface ShareSyncParts {
  readonly board: ShareBoard;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly timers: Timers;
  readonly pacedClock: PacedClock;
  readonly fleet: KnownFleet;
  readonly replicaId: () => string;
  /** Told when exchanges stop coming back, and when they do again. */
  readonly onDegraded: (degraded: boolean, error: unknown) => void;
  readonly onExchanged: (limits: number, ms: number) => void;
}

/** Tells the others every now and then what this replica uses of the limits in use here, and computes its shares from what they say. */
export class ShareSync {
  readonly #parts: ShareSyncParts;
  readonly #alarm: Alarm;
  /** To be told of with the next round; still in this one; and as soon as may be. */
  #next = new Set<Limited>();
  #rest = new Set<Limited>();
  readonly #soon = new Set<Limited>();
  /** Of which the last exchange brought nothing, though it came back. */
  readonly #unheard = new Set<Limited>();
  /** When the next ordinary round is, and when the one began that is not over. */
  #roundMs: number;
  #beganMs: number | null = null;
  #endedMs: number;
  #cameBackMs: number;

  constructor(parts: ShareSyncParts) {
    this.#parts = parts;
    this.#alarm = new Alarm(parts.clock, parts.timers, () => this.#run());
    const now = parts.clock.monotonicMs();
    this.#roundMs = now + everyMs;
    this.#endedMs = now - soonMs;
    this.#cameBackMs = now;
  }

  /** Whether limits in use go on by their last shares: all of them, or some in a lost part of the store. */
  get degraded(): boolean {
    return this.#parts.fleet.degraded || this.#unheard.size > 0;
  }

  /** To be called when a bucket was asked for. */
  asked(limited: Limited, bucket: RateBucket, nowMs: number): void {
    if (limited.told === 'soon') return;
    if (bucket.isLow && nowMs >= limited.soonMs) {
      limited.told = 'soon';
      this.#soon.add(limited);
      this.#alarm.wakeAt(this.#endedMs + soonMs);
    } else if (
      limited.told === 'not' &&
      (bucket.announced || bucket.isLow || isWorthTelling(bucket, this.#parts.fleet))
    ) {
      limited.told = 'next';
      this.#next.add(limited);
      this.#alarm.wakeAt(this.#roundMs);
    }
  }

  /** Ends, once the others know what was used here. */
  async stop(): Promise<void> {
    await this.#alarm.stop();
    const last = [...new Set([...this.#soon, ...this.#rest, ...this.#next])];
    try {
      for (let i = 0; i < last.length; i += mostReports) await this.#exchange(last.slice(i, i + mostReports));
    } catch {
      // The store is away. The others have room for what they do not hear of until this replica is known to be gone.
    }
  }

  /** @returns tells when the next is due */
  async #run(): Promise<() => number> {
    const { clock, fleet } = this.#parts;
    const told = this.#portion();
    let failed = false;
    try {
      // A timer may go off a moment early: nothing is due then, and nothing was heard.
      if (await this.#exchange(told)) {
        this.#cameBackMs = clock.monotonicMs();
        if (fleet.degraded) this.#become(false, undefined);
      }
      if (this.#rest.size === 0 && this.#beganMs !== null) {
        fleet.noteRound(clock.monotonicMs() - this.#beganMs);
        this.#beganMs = null;
      }
    } catch (error) {
      failed = true;
      this.#failed(told, error);
    }
    this.#endedMs = clock.monotonicMs();
    return () => this.#nextMs(failed);
  }

  #nextMs(failed: boolean): number {
    const { fleet } = this.#parts;
    if (this.#rest.size > 0) return this.#endedMs;
    if (this.#soon.size > 0 && !fleet.degraded) return this.#endedMs + soonMs;
    if (this.#soon.size + this.#next.size > 0 || fleet.degraded) return this.#roundMs;
    // Nothing is in use. The store may go away and come back meanwhile: nothing would be decided by it.
    if (!failed) this.#cameBackMs = Infinity;
    return Infinity;
  }

  #failed(told: readonly Limited[], error: unknown): void {
    for (const limited of told) this.#keep(limited);
    for (const limited of this.#rest) this.#next.add(limited);
    this.#rest.clear();
    this.#beganMs = null;
    const { clock, fleet } = this.#parts;
    const silentMs = clock.monotonicMs() - this.#cameBackMs;
    if (!fleet.degraded && silentMs > degradedMs) this.#become(true, error);
    if (!fleet.degraded) return;
    for (const { bucket } of [...told, ...this.#soon, ...this.#next]) bucket?.goOnAlone(fleet);
  }

  /** Those of the next exchange, with the ones that cannot wait first; where these are many, half is for the others. */
  #portion(): Limited[] {
    const ownMs = this.#parts.clock.monotonicMs();
    if (this.#rest.size === 0 && ownMs >= this.#roundMs) {
      [this.#rest, this.#next] = [this.#next, this.#rest];
      this.#beganMs = ownMs;
      this.#roundMs = ownMs + everyMs;
    }
    const told: Limited[] = [];
    const now = this.#parts.pacedClock.nowMs();
    const parts = [
      [this.#soon, this.#rest.size > 0 ? mostReports / 2 : mostReports],
      [this.#rest, mostReports],
    ] as const;
    for (const [of, most] of parts)
      for (const limited of of) {
        if (told.length === most) break;
        // One that asks again and again is in want because its limit is reached: it is told with the others then.
        if (limited.told === 'soon') limited.pauseMs = Math.min(2 * limited.pauseMs, everyMs);
        else if (limited.bucket?.isLow !== true) limited.pauseMs = soonMs;
        limited.soonMs = now + limited.pauseMs;
        limited.told = 'not';
        for (const set of [this.#soon, this.#rest, this.#next]) set.delete(limited);
        told.push(limited);
      }
    return told;
  }

  /** @returns whether there was anything to tell */
  async #exchange(told: readonly Limited[]): Promise<boolean> {
    const { board, clock, pacedClock, fleet, replicaId, onExchanged } = this.#parts;
    const began = clock.monotonicMs();
    this.#cameBackMs = Math.min(this.#cameBackMs, began);
    const now = pacedClock.nowMs();
    const reported = told.flatMap((limited) => {
      const report = limited.bucket?.report(limited.limit, fleet, now);
      if (report !== undefined) return [{ limited, report }];
      this.#unheard.delete(limited);
      return [];
    });
    // Without any in use, a store that was away is asked whether it is back.
    if (reported.length === 0 && !fleet.degraded) return false;
    const reading = await board.exchange(
      replicaId(),
      reported.map(({ report }) => report),
    );
    pacedClock.note(reading.nowMs);
    const readMs = pacedClock.nowMs();
    const byLimit = new Map<string, PeerReport[]>(reported.map(({ report }) => [report.limit, []]));
    for (const peer of reading.peers) byLimit.get(peer.limit)?.push(peer);
    for (const { limited, report } of reported) {
      const { bucket } = limited;
      this.#unheard.delete(limited);
      // Forgotten, or no limit any more.
      if (bucket?.series !== report.series) continue;
      const isUnheard = reading.unheard?.has(report.limit) === true;
      if (isUnheard) bucket.goOnAlone(fleet);
      else bucket.read(byLimit.get(report.limit) ?? [], report, fleet, readMs);
      // One that is not in use any more is not told of again, so nothing would say when it is heard of.
      if (isUnheard && bucket.announced) this.#unheard.add(limited);
      this.#keep(limited);
    }
    onExchanged(reported.length, clock.monotonicMs() - began);
    return true;
  }

  /** What others believe to be in use is told again, until they were told that it is not. */
  #keep(limited: Limited): void {
    if (limited.told !== 'not' || limited.bucket?.announced !== true) return;
    limited.told = 'next';
    this.#next.add(limited);
  }

  #become(degraded: boolean, error: unknown): void {
    this.#parts.fleet.degraded = degraded;
    this.#parts.onDegraded(degraded, error);
  }
}

function isWorthTelling({ unreported, rate }: RateBucket, { replicas }: KnownFleet): boolean {
  return unreported > Math.max(1, (untold * rate) / replicas);
}
