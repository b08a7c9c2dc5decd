import { nearQuota } from '../../../domain/limits/limits.ts';
import type { TokenAnswer, TokenQuestion } from '../../../ports/limits/token-store.ts';
import type { Runner } from '../connection/pool.ts';

/** Most quotas whose level is remembered. If there are more, the memory begins anew: `quota_note` writes no event twice. */
const mostRemembered = 10_000;

/** Asks the database for an event when an answer shows that a quota is near or reached. */
export class QuotaEvents {
  readonly #background: Runner;
  /** Series and level of the quotas that are near or reached. */
  #known = new Map<string, { readonly series: number; readonly level: number }>();

  constructor(background: Runner) {
    this.#background = background;
  }

  /** Looks at the answers to questions about quotas, in their order. */
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
      // The next answer about the quota asks again.
      this.#known.delete(limit);
    }
  }
}

/** Returns 1 for a quota that is near, 2 for one that is reached, as `quota_note` takes it. */
function levelOf(left: number, capacity: number): 0 | 1 | 2 {
  if (left === 0) return 2;
  return capacity - left >= nearQuota * capacity ? 1 : 0;
}
