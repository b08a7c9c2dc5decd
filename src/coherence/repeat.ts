import type { Timers } from '../ports/timers.ts';

/** Does `task` every now and then, beginning at once; a failure waits for the next time. Returns how to stop. */
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
