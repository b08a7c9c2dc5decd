import type { PeerReport } from '../../ports/limits/share-board.ts';
import { tuning, type Fleet } from './tuning.ts';

interface Peer {
  readonly report: PeerReport;
  /** Moment of the report, on this replica's clock. */
  readonly givenMs: number;
}

/**
 * Last reports of the other replicas about one limit. They stay while the board has none, because it may have lost
 * them.
 */
export class Peers {
  readonly #peers = new Map<string, Peer>();

  /**
   * Takes in the present reports.
   *
   * @param capacity of the bucket
   * @param tripMs duration of the reading; levels may be older by that. Use corrects a level that is too high, but all
   * replicas would copy one that is too low
   * @returns their use since their last reports, and the lowest level they know, brought up to now
   */
  note(
    reports: readonly PeerReport[],
    rate: number,
    capacity: number,
    nowMs: number,
    tripMs: number,
  ): { readonly used: number; readonly level: number } {
    let used = 0;
    let least = Infinity;
    for (const report of reports) {
      const before = this.#peers.get(report.replica)?.report;
      const level = report.level + (rate * (report.ageMs + tripMs)) / 1000;
      // A replica that is new here has used what its own bucket lacks.
      const isKnown = before?.series === report.series;
      used += Math.max(0, isKnown ? report.used - before.used : Math.min(report.used, capacity - level));
      least = Math.min(least, level);
      this.#peers.set(report.replica, { report, givenMs: nowMs - report.ageMs });
    }
    return { used, level: least };
  }

  /**
   * Returns this replica's part of the rate: its demand compared with that of all. A replica that is cut off from the
   * board keeps its last share, so the others leave room for it, up to half of the rate.
   */
  shareOf(demand: number, rate: number, fleet: Fleet, nowMs: number): number {
    const least = (tuning.leastDemand * rate) / fleet.replicas;
    const own = demand + least;
    let all = own;
    let cutOff = 0;
    for (const [replica, { report, givenMs }] of this.#peers) {
      const fresh = nowMs - givenMs <= fleet.freshMs;
      if (report.demand > 0 && fresh) all += report.demand + least;
      else if (report.demand > 0 && fleet.has(replica)) cutOff += report.share;
      else if (nowMs - givenMs > tuning.forgottenMs) this.#peers.delete(replica);
    }
    const most = Math.max(tuning.mostShares - 1, Math.min(1, tuning.mostShares - cutOff));
    return (own / all) * most;
  }
}
