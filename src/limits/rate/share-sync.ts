import type { Clock } from '../../ports/clock.ts';
import type { PeerReport, ShareBoard } from '../../ports/limits/share-board.ts';
import type { Timers } from '../../ports/timers.ts';
import type { Limited } from './limited.ts';
import type { RateBucket } from './rate-bucket.ts';
import type { Fleet } from './tuning.ts';
import type { PacedClock } from './paced-clock.ts';

/** Between two exchanges of a limit in use. */
const everyMs = 250;
/** Between an exchange and an earlier one, for what has little left; doubles for a limit that has little left again. */
const soonMs = 25;
/** Reports of one exchange at most; the others come with the next. */
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
  readonly fleet: Fleet;
  readonly replicaId: () => string;
  /** Told when exchanges stop coming back, and when they do again. */
  readonly onDegraded: (degraded: boolean, error: unknown) => void;
  readonly onExchanged: (limits: number, ms: number) => void;
}

/** Tells the others every now and then what this replica uses of the limits in use here, and computes its shares from what they say. */
export class ShareSync {
  readonly #parts: ShareSyncParts;
  #next = new Set<Limited>();
  #callOff: () => void = () => undefined;
  #dueMs = Infinity;
  /** When the next ordinary exchange is. */
  #roundMs: number;
  #endedMs: number;
  #stopped = false;
  #underWay: Promise<void> = Promise.resolve();
  #busy = false;
  #cameBackMs: number;
  #degraded = false;

  constructor(parts: ShareSyncParts) {
    this.#parts = parts;
    const now = parts.clock.monotonicMs();
    this.#roundMs = now + everyMs;
    this.#endedMs = now - soonMs;
    this.#cameBackMs = now;
  }

  get degraded(): boolean {
    return this.#degraded;
  }

  /** To be called when a bucket was asked for. */
  asked(limited: Limited, bucket: RateBucket, nowMs: number): void {
    if (limited.told === 'soon') return;
    if (bucket.isLow && nowMs >= limited.soonMs) {
      limited.told = 'soon';
      this.#next.add(limited);
      this.#wakeAt(this.#endedMs + soonMs);
    } else if (
      limited.told === 'not' &&
      (bucket.announced || bucket.isLow || isWorthTelling(bucket, this.#parts.fleet))
    ) {
      limited.told = 'next';
      this.#next.add(limited);
      this.#wakeAt(this.#roundMs);
    }
  }

  /** Ends, once the others know what was used here. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#callOff();
    await this.#underWay;
    if (this.#next.size > 0)
      await this.#exchange([...this.#next].slice(0, mostReports)).catch(() => undefined);
  }

  #wakeAt(atMs: number): void {
    if (this.#stopped || this.#busy || atMs >= this.#dueMs) return;
    this.#callOff();
    this.#dueMs = atMs;
    const inMs = Math.max(0, atMs - this.#parts.clock.monotonicMs());
    this.#callOff = this.#parts.timers.after(inMs, () => {
      this.#underWay = this.#run();
    });
  }

  async #run(): Promise<void> {
    const { clock } = this.#parts;
    this.#busy = true;
    this.#dueMs = Infinity;
    const isRound = clock.monotonicMs() >= this.#roundMs;
    const told = this.#due(isRound);
    if (isRound) this.#roundMs = clock.monotonicMs() + everyMs;
    try {
      // A timer may go off a moment early: nothing is due then, and nothing was heard.
      if (await this.#exchange(told)) {
        this.#cameBackMs = clock.monotonicMs();
        if (this.#degraded) this.#become(false, undefined);
      }
    } catch (error) {
      for (const limited of told) this.#keep(limited);
      if (!this.#degraded && clock.monotonicMs() - this.#cameBackMs > degradedMs) this.#become(true, error);
      if (this.#degraded) for (const { bucket } of told) bucket?.goOnAlone();
    }
    this.#busy = false;
    this.#endedMs = clock.monotonicMs();
    if (this.#next.size === 0) {
      // Nothing is in use. The store may go away and come back meanwhile: nothing would be decided by it.
      this.#cameBackMs = Infinity;
      return;
    }
    const isSoon = [...this.#next].some(({ told: when }) => when === 'soon');
    this.#wakeAt(isSoon && !this.#degraded ? this.#endedMs + soonMs : this.#roundMs);
  }

  /** Those of the next exchange, with the ones that cannot wait first. */
  #due(isRound: boolean): Limited[] {
    const all = [...this.#next];
    const soon = all.filter(({ told }) => told === 'soon');
    const told = (isRound ? [...soon, ...all.filter(({ told }) => told !== 'soon')] : soon).slice(
      0,
      mostReports,
    );
    const now = this.#parts.pacedClock.nowMs();
    for (const limited of told) {
      // One that asks again and again is in want because its limit is reached: it is told with the others then.
      if (limited.told === 'soon') limited.pauseMs = Math.min(2 * limited.pauseMs, everyMs);
      else if (limited.bucket?.isLow !== true) limited.pauseMs = soonMs;
      limited.soonMs = now + limited.pauseMs;
      limited.told = 'not';
      this.#next.delete(limited);
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
      const report = limited.bucket?.report(limited.limit, now);
      return report === undefined ? [] : [{ limited, report }];
    });
    if (reported.length === 0) return false;
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
      // Forgotten, or no limit any more.
      if (bucket?.series !== report.series) continue;
      bucket.read(byLimit.get(report.limit) ?? [], report, fleet, readMs);
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
    this.#degraded = degraded;
    this.#parts.onDegraded(degraded, error);
  }
}

function isWorthTelling({ unreported, rate }: RateBucket, { replicas }: Fleet): boolean {
  return unreported > Math.max(1, (untold * rate) / replicas);
}
