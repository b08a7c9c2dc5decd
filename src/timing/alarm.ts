import type { Clock } from '../ports/clock.ts';
import type { Timers } from '../ports/timers.ts';

/** Runs a task at the earliest requested time. Runs never overlap. */
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
   * @param run the task, which must never reject. It resolves to a function. The function is called right after the
   * run, and returns the time of the next run in milliseconds of the monotonic clock. If it returns `Infinity`, the
   * next run waits for {@link wakeAt}
   */
  constructor(clock: Pick<Clock, 'monotonicMs'>, timers: Timers, run: () => Promise<() => number>) {
    this.#clock = clock;
    this.#timers = timers;
    this.#run = run;
  }

  /**
   * Requests a run no later than `atMs` on the monotonic clock. Calls during a run have no effect, because the run
   * itself sets the time of the next run.
   */
  wakeAt(atMs: number): void {
    if (this.#stopped || this.#busy || atMs >= this.#dueMs) return;
    this.#callOff();
    this.#dueMs = atMs;
    const inMs = Math.max(0, atMs - this.#clock.monotonicMs());
    this.#callOff = this.#timers.after(inMs, () => {
      this.#underWay = this.#ring();
    });
  }

  /** Prevents further runs. Resolves once the current run, if any, has ended. */
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
