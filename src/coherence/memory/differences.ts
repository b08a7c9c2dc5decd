import { isDeepStrictEqual } from 'node:util';
import type { FactKey, FactValue, Seq } from '../../ports/facts.ts';
import type { RecentChanges } from './recent-changes.ts';

interface Difference {
  /** Log position of the reading that differed from memory. */
  readonly seq: Seq;
  /**
   * Log position up to which this replica had read the log when it found the difference. Any later change to the fact
   * explains the difference.
   */
  readonly since: Seq;
}

/**
 * Facts whose value in the database differed from memory when they were reread. The reading may be ahead of this
 * replica's position in the log. A difference is therefore judged only once the log has been read up to the reading's
 * position. If no logged change explains the difference by then, memory was wrong.
 */
export class Differences {
  readonly #waiting = new Map<FactKey, Difference>();

  /**
   * Notes that the database and memory hold different values for a fact.
   *
   * @param seq position of the database snapshot that the value was read from
   * @param since position that this replica has read the log up to
   */
  note(key: FactKey, seq: Seq, since: Seq): void {
    // If the fact already has a difference, that one is kept. If the new one replaced it, a change between the two
    // readings could explain the new difference, and the earlier one would never be reported.
    if (!this.#waiting.has(key)) this.#waiting.set(key, { seq, since });
  }

  /**
   * Judges the differences whose reading is at or before `applied`, and removes them. Returns the facts whose
   * difference no logged change explains.
   *
   * @param applied position up to which the log has been applied
   */
  unexplained(applied: Seq, changes: RecentChanges): ReadonlySet<FactKey> {
    const unexplained = new Set<FactKey>();
    for (const [key, { seq, since }] of this.#waiting) {
      if (seq > applied) continue;
      this.#waiting.delete(key);
      if (!changes.mayHaveTouched(key, since)) unexplained.add(key);
    }
    return unexplained;
  }

  clear(): void {
    this.#waiting.clear();
  }
}

/**
 * Whether two values of a fact would lead to different decisions. An unproven fact has no value, so it never differs.
 * Two counts differ only if exactly one of them is zero, because other changes to a count are not logged.
 */
export function differ(key: FactKey, held: FactValue | undefined, read: FactValue): boolean {
  if (held === undefined) return false;
  return key.startsWith('n:') ? (held === 0) !== (read === 0) : !isDeepStrictEqual(held, read);
}
