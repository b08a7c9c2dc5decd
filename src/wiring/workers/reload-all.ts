import type { Config } from '../../config.ts';
import type { Timers } from '../../ports/timers.ts';
import type { Member } from './member.ts';
import { Questions } from './questions.ts';
import type { Workers } from './workers.ts';

/** A worker has this many milliseconds to prepare a configuration, and then as many again to start using it. */
const limitMs = 10_000;

/**
 * Replaces the configuration of all workers or of none. Each worker prepares the new configuration, and uses it only if
 * all workers can.
 */
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
   * @param config new configuration for the workers
   * @param decided called once it is certain that all workers will use `config`
   * @throws if a worker cannot use `config` or does not answer in time; no worker uses it in that case
   */
  async run(config: Config, decided: () => void): Promise<void> {
    // New workers wait, because they might otherwise start with the old configuration.
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

  /** @returns reasons why workers cannot use the configuration; empty if all can */
  async #prepare(id: number, members: readonly Member[], config: Config): Promise<readonly string[]> {
    const outcomes = await this.prepared.ask(id, members, ({ process }) =>
      process.send({ kind: 'prepare', id, config }),
    );
    return outcomes.flatMap(({ member, outcome }) => {
      if ('answer' in outcome) return outcome.answer === null ? [] : [outcome.answer];
      // The successor of a worker that has ended starts with the new configuration.
      return outcome.missing === 'gone' ? [] : [`worker ${member.slot} does not answer`];
    });
  }
}
