import { isDeepStrictEqual } from 'node:util';
import type { FactKey, FactValue, Seq } from '../../ports/facts.ts';
import type { RecentChanges } from './recent-changes.ts';

interface Difference {
  /** Position of the reading. */
  readonly seq: Seq;
  /** Position up to which the log was taken in then: a change after it explains the difference. */
  readonly since: Seq;
}

/**
 * Facts that were read with another value than memory had. A reading may be ahead of the log as this replica knows it, so a
 * difference is judged once the log was read as far: a change that it tells of explains it, and nothing else does.
 */
export class Differences {
  readonly #waiting = new Map<FactKey, Difference>();

  /** @param since position up to which the log was taken in */
  note(key: FactKey, seq: Seq, since: Seq): void {
    // The first one: what was read after it may only seem to be explained.
    if (!this.#waiting.has(key)) this.#waiting.set(key, { seq, since });
  }

  /** Takes out what the log, taken in up to `applied`, is far enough to judge. Returns what no change explains. */
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
 * Whether two values would decide differently. An unproven fact has no value. Of a count it matters alone whether it is 0:
 * changes of it beyond that are not logged.
 */
export function differ(key: FactKey, held: FactValue | undefined, read: FactValue): boolean {
  if (held === undefined) return false;
  return key.startsWith('n:') ? (held === 0) !== (read === 0) : !isDeepStrictEqual(held, read);
}
