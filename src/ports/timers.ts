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

/** The machine's timers. Only this file calls them by their global names. */
export const systemTimers: Timers & Intervals = {
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
