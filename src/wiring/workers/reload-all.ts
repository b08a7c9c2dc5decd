import type { Config } from '../../config.ts';
import type { Timers } from '../../ports/timers.ts';
import type { Member } from './member.ts';
import { Questions } from './questions.ts';
import type { Workers } from './workers.ts';

/** How long a worker may take to make ready for another configuration, milliseconds. */
const limitMs = 10_000;

/** Exchanges the configuration of all workers, or of none: each makes ready first, and uses it only when all can. */
export class ReloadAll {
  readonly prepared: Questions<string | null>;
  readonly used: Questions<true>;
  readonly #workers: Workers;
  #nextId = 1;

  constructor(workers: Workers, timers: Timers) {
    this.#workers = workers;
    this.prepared = new Questions(timers, limitMs);
    this.used = new Questions(timers, limitMs);
  }

  gone(member: Member): void {
    this.prepared.gone(member);
    this.used.gone(member);
  }

  /**
   * @param config what they are to serve by
   * @param decided called when it is certain that they will
   * @throws where a worker cannot use it, or does not say so in time; then none does
   */
  async run(config: Config, decided: () => void): Promise<void> {
    // One that begins meanwhile would begin with what may be about to be replaced.
    this.#workers.hold();
    try {
      const { members } = this.#workers;
      const id = this.#nextId++;
      const failures = await this.#prepare(id, members, config);
      const use = failures.length === 0;
      if (use) decided();
      const tell = ({ process }: Member): void => process.send({ kind: 'decided', id, use });
      if (!use) {
        members.forEach(tell);
        throw new Error(failures[0]);
      }
      await this.used.ask(
        id,
        members.filter(({ gone }) => !gone),
        tell,
      );
    } finally {
      this.#workers.release();
    }
  }

  /** @returns why they cannot all use it */
  async #prepare(id: number, members: readonly Member[], config: Config): Promise<readonly string[]> {
    const outcomes = await this.prepared.ask(id, members, ({ process }) =>
      process.send({ kind: 'prepare', id, config }),
    );
    return outcomes.flatMap(({ member, outcome }) => {
      if ('answer' in outcome) return outcome.answer === null ? [] : [outcome.answer];
      // One that has ended is followed by one that begins with what was decided.
      return outcome.missing === 'gone' ? [] : [`worker ${member.slot} does not answer`];
    });
  }
}
