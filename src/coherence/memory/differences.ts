import { isDeepStrictEqual } from 'node:util';
import type { FactKey, FactValue, Seq } from '../../ports/facts.ts';
import type { RecentChanges } from './recent-changes.ts';

interface Difference {
  /** Log position of the reading that differed from memory. */
  readonly seq: Seq;
  /** Log position up to which this replica had read at that time. A later change explains the difference. */
  readonly since: Seq;
}

/**
 * Facts whose value in a reading differed from memory. A reading may be ahead of the part of the log that this replica
 * has read. So a difference is judged only after this replica has read the log up to the position of the reading. If no
 * logged change explains the difference then, memory was wrong.
 */
export class Differences {
  readonly #waiting = new Map<FactKey, Difference>();

  /**
   * Notes that the value of a fact in the database differs from memory.
   *
   * @param seq position of the snapshot in which the value was read from the database
   * @param since position up to which this replica has read the log so far
   */
  note(key: FactKey, seq: Seq, since: Seq): void {
    // Keeps the first difference of a fact: a later one could be explained by a change that does not explain the first.
    if (!this.#waiting.has(key)) this.#waiting.set(key, { seq, since });
  }

  /**
   * Removes every difference whose reading is not ahead of `applied`, the position up to which the log was applied.
   * Returns the facts whose difference no logged change explains.
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
 * Two counts differ only if one is zero and the other is not, because other changes of a count are not logged.
 */
export function differ(key: FactKey, held: FactValue | undefined, read: FactValue): boolean {
  if (held === undefined) return false;
  return key.startsWith('n:') ? (held === 0) !== (read === 0) : !isDeepStrictEqual(held, read);
}
