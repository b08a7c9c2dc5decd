import type { Clock } from '../../ports/clock.ts';
import type { PeerReport, ShareBoard } from '../../ports/limits/share-board.ts';
import type { Timers } from '../../ports/timers.ts';
import { Alarm } from '../../timing/alarm.ts';
import type { KnownFleet } from './known-fleet.ts';
import type { Limited } from './limited.ts';
import type { RateBucket } from './rate-bucket.ts';
import type { PacedClock } from './paced-clock.ts';

/** Milliseconds between two exchanges of a limit in use. */
const everyMs = 250;
/** Milliseconds before an early exchange for a bucket with few tokens; doubles while it runs low again and again. */
const soonMs = 25;
/** Most reports in one exchange; the rest of a round follows in the next ones, back to back. */
const mostReports = 1_000;
/** Milliseconds without an exchange after which this replica keeps its last shares. */
const degradedMs = 1_000;
/** Part of a second's requests that all replicas together may admit on a limit before they begin to report it. */
const untold = 0.02;

export interface ShareSyncParts {
  readonly board: ShareBoard;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly timers: Timers;
  readonly pacedClock: PacedClock;
  readonly fleet: KnownFleet;
  readonly replicaId: () => string;
  /** Called when exchanges stop coming back, and when they do again. */
  readonly onDegraded: (degraded: boolean, error: unknown) => void;
  readonly onExchanged: (limits: number, ms: number) => void;
}

/** Reports this replica's use of limits to the others at intervals, and computes its shares from their reports. */
export class ShareSync {
  readonly #parts: ShareSyncParts;
  readonly #alarm: Alarm;
  /** Limits to report in the next round, still in this round, and as early as possible. */
  #next = new Set<Limited>();
  #rest = new Set<Limited>();
  readonly #soon = new Set<Limited>();
  /** Limits without news in the last exchange, although it came back. */
  readonly #unheard = new Set<Limited>();
  /** Time of the next ordinary round, and the start of the present one. */
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

  /** Whether limits in use keep their last shares: all, or those in a lost part of the store. */
  get degraded(): boolean {
    return this.#parts.fleet.degraded || this.#unheard.size > 0;
  }

  /** Notes a request for a bucket. */
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

  /** Reports the last use to the others, and ends. */
  async stop(): Promise<void> {
    await this.#alarm.stop();
    const last = [...new Set([...this.#soon, ...this.#rest, ...this.#next])];
    try {
      for (let i = 0; i < last.length; i += mostReports) await this.#exchange(last.slice(i, i + mostReports));
    } catch {
      // The store is away. The other replicas leave room for unreported use until they know that this replica is gone.
    }
  }

  /** @returns a function for the time of the next run */
  async #run(): Promise<() => number> {
    const { clock, fleet } = this.#parts;
    const told = this.#portion();
    let failed = false;
    try {
      // A timer may fire a moment early: then nothing is due, and nothing came back.
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
    // No limit is in use. The store may go away and come back meanwhile, which would decide nothing.
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

  /** Limits of the next exchange, early ones first; if these are many, half of the places are for the others. */
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
        // A limit that keeps running low has been reached: it is reported with the others from then on.
        if (limited.told === 'soon') limited.pauseMs = Math.min(2 * limited.pauseMs, everyMs);
        else if (limited.bucket?.isLow !== true) limited.pauseMs = soonMs;
        limited.soonMs = now + limited.pauseMs;
        limited.told = 'not';
        for (const set of [this.#soon, this.#rest, this.#next]) set.delete(limited);
        told.push(limited);
      }
    return told;
  }

  /** @returns whether there was anything to report */
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
    // Even without limits in use, a degraded replica asks whether the store is back.
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
      // The limit was forgotten or removed.
      if (bucket?.series !== report.series) continue;
      const isUnheard = reading.unheard?.has(report.limit) === true;
      if (isUnheard) bucket.goOnAlone(fleet);
      else bucket.read(byLimit.get(report.limit) ?? [], report, fleet, readMs);
      // A limit that is not in use any more is not reported again, so nothing would end its entry here.
      if (isUnheard && bucket.announced) this.#unheard.add(limited);
      this.#keep(limited);
    }
    onExchanged(reported.length, clock.monotonicMs() - began);
    return true;
  }

  /** Reports a limit again while the others believe it is in use, until a report says that it is not. */
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
