import { isDeepStrictEqual } from 'node:util';
import type { FactKey, FactValue, Seq } from '../../ports/facts.ts';
import type { RecentChanges } from './recent-changes.ts';

interface Difference {
  /** Position of the reading. */
  readonly seq: Seq;
  /** Log position that this replica had applied at that time; a later change explains the difference. */
  readonly since: Seq;
}

/**
 * Facts whose value in a reading differs from memory. A reading may be ahead of the log as this replica knows it. So a
 * difference is judged only after the log was read up to the same position; only a logged change explains it.
 */
export class Differences {
  readonly #waiting = new Map<FactKey, Difference>();

  /** @param since log position that this replica had applied */
  note(key: FactKey, seq: Seq, since: Seq): void {
    // Keeps the first difference of a fact: a later one could be explained by a change that does not explain the first.
    if (!this.#waiting.has(key)) this.#waiting.set(key, { seq, since });
  }

  /**
   * Removes every difference whose reading is not ahead of `applied`, the position up to which the log was applied.
   * Returns those that no logged change explains.
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
 * Whether two values would lead to different decisions. An unproven fact has no value. For a count only zero or not
 * zero matters, because other changes of it are not logged.
 */
export function differ(key: FactKey, held: FactValue | undefined, read: FactValue): boolean {
  if (held === undefined) return false;
  return key.startsWith('n:') ? (held === 0) !== (read === 0) : !isDeepStrictEqual(held, read);
}
