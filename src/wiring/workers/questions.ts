import type { Timers } from '../../ports/timers.ts';
import type { Member } from './member.ts';

/** Outcome of a question. `gone`: the worker has ended; `silent`: the worker did not answer in time. */
export type Outcome<T> = { readonly answer: T } | { readonly missing: 'gone' | 'silent' };

interface Open<T> {
  readonly member: Member;
  readonly id: number;
  readonly close: (outcome: Outcome<T>) => void;
}

/** Asks workers a question, and waits until each worker has answered or ended, or until the time limit has passed. */
export class Questions<T> {
  readonly #timers: Timers;
  readonly #limitMs: number;
  readonly #open = new Set<Open<T>>();

  constructor(timers: Timers, limitMs: number) {
    this.#timers = timers;
    this.#limitMs = limitMs;
  }

  /**
   * Asks each of `members` the question with this `id`.
   *
   * @param send asks one worker, whose answer must carry `id`
   */
  ask(
    id: number,
    members: readonly Member[],
    send: (member: Member) => void,
  ): Promise<readonly { readonly member: Member; readonly outcome: Outcome<T> }[]> {
    return Promise.all(
      members.map(async (member) => {
        const outcome = this.#await(member, id);
        send(member);
        return { member, outcome: await outcome };
      }),
    );
  }

  answered(member: Member, id: number, answer: T): void {
    this.#close(member, { answer }, id);
  }

  gone(member: Member): void {
    this.#close(member, { missing: 'gone' });
  }

  #await(member: Member, id: number): Promise<Outcome<T>> {
    return new Promise((resolve) => {
      const callOff = this.#timers.after(this.#limitMs, () => open.close({ missing: 'silent' }));
      const open: Open<T> = {
        member,
        id,
        close: (outcome) => {
          callOff();
          this.#open.delete(open);
          resolve(outcome);
        },
      };
      this.#open.add(open);
    });
  }

  #close(member: Member, outcome: Outcome<T>, id?: number): void {
    for (const open of [...this.#open])
      if (open.member === member && (id === undefined || open.id === id)) open.close(outcome);
  }
}
