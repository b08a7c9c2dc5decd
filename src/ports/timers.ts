import type { Clock } from './clock.ts';

/** Timers, passed in so that tests can control time. */
export interface Timers {
  /** Runs `task` once, after at least `ms` milliseconds. Returns a function that cancels it. */
  after(ms: number, task: () => void): () => void;
}

/** Intervals, passed in so that tests can control time. */
export interface Intervals {
  /**
   * Runs `task` every `ms` milliseconds, while something else keeps the process running. Returns a function that ends
   * the interval.
   */
  every(ms: number, task: () => void): () => void;
}

/** Both kinds. */
export type AllTimers = Timers & Intervals;

/** The machine's timers. Only this file calls them by their global names. */
export const systemTimers: AllTimers = {
  after(ms, task) {
    const timer = setTimeout(task, ms);
    return () => clearTimeout(timer);
  },
  every(ms, task) {
    const timer = setInterval(task, ms).unref();
    return () => clearInterval(timer);
  },
};

/** Resolves after at least `ms` milliseconds. */
export function pause(ms: number, timers: Timers = systemTimers): Promise<void> {
  return new Promise((resolve) => void timers.after(ms, resolve));
}

/** Resolves in the next turn of the event loop, once what has arrived is served. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

/** Does the `work` of a generator, and has others take a turn of the event loop at each of its yields. */
export async function inTurns<Result>(work: Generator<void, Result, void>): Promise<Result> {
  let part = work.next();
  for (; part.done !== true; part = work.next()) await nextTurn();
  return part.value;
}

/**
 * Runs `check` every `everyMs` milliseconds, with the time at which the interval fired, but after the event loop has
 * read what arrived by then. So after a stall nothing counts as late that is already there. Returns a function that
 * ends it.
 */
export function checkEvery(
  everyMs: number,
  clock: Pick<Clock, 'monotonicMs'>,
  check: (nowMs: number) => void,
  timers: AllTimers = systemTimers,
): () => void {
  return timers.every(everyMs, () => {
    const nowMs = clock.monotonicMs();
    timers.after(0, () => check(nowMs));
  });
}
