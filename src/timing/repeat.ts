import type { Timers } from '../ports/timers.ts';

/**
 * Runs `task` at once and then every `everyMs`; a failed run waits for its next time. Returns a function that stops it.
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
