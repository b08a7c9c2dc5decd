import { systemTimers } from '../ports/timers.ts';

/**
 * Runs `check` every `everyMs` milliseconds, with the time at which the interval fired, but after the event loop has
 * read what arrived by then. So after a stall nothing counts as late that is already there. Returns a function that
 * ends it.
 */
export function checkEvery(
  everyMs: number,
  clockMs: () => number,
  check: (nowMs: number) => void,
): () => void {
  return systemTimers.every(everyMs, () => {
    const nowMs = clockMs();
    systemTimers.after(0, () => check(nowMs));
  });
}
