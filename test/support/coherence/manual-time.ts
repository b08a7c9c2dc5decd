import type { Clock } from '../../../src/ports/clock.ts';
import type { AllTimers } from '../../../src/ports/timers.ts';

/** Time that moves only when a test says so. */
export class ManualTime {
  #now = 1_000;
  #wall = 1_700_000_000_000;
  #timers: { at: number; task: () => void }[] = [];

  readonly clock: Clock = { monotonicMs: () => this.#now, wallMs: () => this.#wall };

  readonly timers: AllTimers = {
    after: (ms, task) => {
      const timer = { at: this.#now + ms, task };
      this.#timers.push(timer);
      return () => {
        this.#timers = this.#timers.filter((each) => each !== timer);
      };
    },
    every: (ms, task) => {
      const again = (): void => {
        callOff = this.timers.after(ms, again);
        task();
      };
      let callOff = this.timers.after(ms, again);
      return () => callOff();
    },
  };

  get now(): number {
    return this.#now;
  }

  /** How many timers have not gone off. */
  get waiting(): number {
    return this.#timers.length;
  }

  /** How long until the next timer; `undefined` where there is none. */
  get nextMs(): number | undefined {
    const next = Math.min(...this.#timers.map(({ at }) => at));
    return Number.isFinite(next) ? next - this.#now : undefined;
  }

  /** Both clocks go on, and timers go off in order, each with everything that follows from it. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await everythingThatFollows();
    for (;;) {
      const next = this.#timers.sort((a, b) => a.at - b.at)[0];
      if (next === undefined || next.at > end) break;
      this.#timers = this.#timers.filter((each) => each !== next);
      this.#pass(next.at - this.#now);
      next.task();
      await everythingThatFollows();
    }
    this.#pass(end - this.#now);
    await everythingThatFollows();
  }

  /** Time goes on, a millisecond at a time, until `result` is there. Rejects if that takes longer than `mostMs`. */
  async until<T>(result: Promise<T>, mostMs = Infinity): Promise<T> {
    let over = false;
    const end = (): void => void (over = true);
    result.then(end, end);
    const lastMs = this.#now + mostMs;
    while (!over && this.#now < lastMs) await this.advance(1);
    if (!over) throw new Error(`it takes longer than ${mostMs} ms`);
    return result;
  }

  /** The clocks jump while nothing runs: the process was paused. */
  pause(ms: number): void {
    this.#pass(ms);
  }

  /** The wall clock alone jumps. */
  setWallForward(ms: number): void {
    this.#wall += ms;
  }

  #pass(ms: number): void {
    this.#now += ms;
    this.#wall += ms;
  }
}

/** Lets every promise that can settle do so. */
export function everythingThatFollows(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
