import type { Clock } from '../../ports/clock.ts';
import type { Timers } from '../../ports/timers.ts';

/** Runs something at the earliest of the times it is wanted at, and never twice at once. */
export class Alarm {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #timers: Timers;
  readonly #run: () => Promise<() => number>;
  #callOff: () => void = () => undefined;
  #dueMs = Infinity;
  #busy = false;
  #stopped = false;
  #underWay: Promise<void> = Promise.resolve();

  /**
   * @param run never rejects; what it returns is asked, in the instant from which {@link wakeAt} is heard again, when the next run
   *   is wanted, on the monotonic clock: `Infinity` for not before it is asked for
   */
  constructor(clock: Pick<Clock, 'monotonicMs'>, timers: Timers, run: () => Promise<() => number>) {
    this.#clock = clock;
    this.#timers = timers;
    this.#run = run;
  }

  /** Asks for a run by then. While one is under way it is that which says when the next is. */
  wakeAt(atMs: number): void {
    if (this.#stopped || this.#busy || atMs >= this.#dueMs) return;
    this.#callOff();
    this.#dueMs = atMs;
    const inMs = Math.max(0, atMs - this.#clock.monotonicMs());
    this.#callOff = this.#timers.after(inMs, () => {
      this.#underWay = this.#ring();
    });
  }

  /** No more runs. Resolves when the one under way has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#callOff();
    await this.#underWay;
  }

  async #ring(): Promise<void> {
    this.#busy = true;
    this.#dueMs = Infinity;
    const nextMs = await this.#run();
    this.#busy = false;
    this.wakeAt(nextMs());
  }
}
