import type { Timers } from '../ports/timers.ts';

/**
 * Runs `task` immediately, and again `everyMs` milliseconds after each run has ended or failed. Returns a function that
 * prevents further runs.
 */
export function repeat(timers: Timers, everyMs: number, task: () => Promise<unknown>): () => void {
  let cancel: () => void = () => undefined;
  let stopped = false;
  const next = (): void => {
    if (!stopped) cancel = timers.after(everyMs, round);
  };
  const round = (): void => void task().then(next, next);
  round();
  return () => {
    stopped = true;
    cancel();
  };
}
