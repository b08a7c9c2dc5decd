import { nearQuota } from '../../../domain/limits/limits.ts';
import type { TokenAnswer, TokenQuestion } from '../../../ports/limits/token-store.ts';
import type { Runner } from '../connection/pool.ts';

/**
 * Maximum number of quotas whose level is remembered. Once there are this many, all levels are forgotten. The same
 * event may then be requested again, but `quota_note` writes it only once.
 */
const mostRemembered = 10_000;

/** Requests an event from the database when an answer shows that a quota has been reached or nearly reached. */
export class QuotaEvents {
  readonly #background: Runner;
  /**
   * Level of each quota that has been reached or nearly reached, keyed by limit name. `series` identifies the
   * count that the level belongs to; see `QuotaWindow`.
   */
  #known = new Map<string, { readonly series: number; readonly level: number }>();

  constructor(background: Runner) {
    this.#background = background;
  }

  /**
   * Compares the answers with the remembered levels, and requests an event for each level that has risen.
   *
   * @param answers answers to `questions`, in the same order
   */
  note(questions: readonly TokenQuestion[], answers: readonly TokenAnswer[]): void {
    answers.forEach(({ left, window }, i) => {
      const question = questions[i];
      if (question === undefined || window === undefined) return;
      const { limit, capacity } = question;
      const level = levelOf(left, capacity);
      const known = this.#known.get(limit);
      const before = known?.series === window.series ? known.level : 0;
      if (level === before) return;
      if (level === 0) this.#known.delete(limit);
      else this.#remember(limit, { series: window.series, level });
      if (level > before) void this.#write(limit, window.series, level);
    });
  }

  #remember(limit: string, known: { readonly series: number; readonly level: number }): void {
    if (this.#known.size >= mostRemembered) this.#known = new Map();
    this.#known.set(limit, known);
  }

  async #write(limit: string, series: number, level: number): Promise<void> {
    try {
      await this.#background.run((sql) => sql`select quota_note(${limit}, ${series}, ${level})`);
    } catch {
      // No event was written. Now that the level is forgotten, `note` requests the event again after the next answer
      // about this quota.
      this.#known.delete(limit);
    }
  }
}

/**
 * Returns the level to pass to `quota_note`: 2 if the quota has been reached, 1 if it has nearly been reached,
 * otherwise 0.
 */
function levelOf(left: number, capacity: number): 0 | 1 | 2 {
  if (left === 0) return 2;
  return capacity - left >= nearQuota * capacity ? 1 : 0;
}
