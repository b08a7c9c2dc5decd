import type { PeerReport } from '../../ports/limits/share-board.ts';
import { tuning, type Fleet } from './tuning.ts';

interface Peer {
  readonly report: PeerReport;
  /** When it was given, on this replica's clock. */
  readonly givenMs: number;
}

/** What the other replicas said last of a limit. Kept while the board has nothing: it may have lost it. */
export class Peers {
  readonly #peers = new Map<string, Peer>();

  /**
   * Takes in what they say now.
   *
   * @param capacity of the bucket
   * @param tripMs how long the reading took: levels are as much older, at most. Too high a level is put right by what is used,
   *   too low a one would be taken over by all
   * @returns what they used since they were heard of last, and the least of the levels that they know, as it should be by now
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
      // Of a replica that is new here, what is missing from its own bucket and was used by it.
      const isKnown = before?.series === report.series;
      used += Math.max(0, isKnown ? report.used - before.used : Math.min(report.used, capacity - level));
      least = Math.min(least, level);
      this.#peers.set(report.replica, { report, givenMs: nowMs - report.ageMs });
    }
    return { used, level: least };
  }

  /**
   * The part of the rate that is this replica's: as its demand is to that of all. A replica that is cut off from the board
   * goes on by its last share, so the others leave room for it, but no more than half of the rate.
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
