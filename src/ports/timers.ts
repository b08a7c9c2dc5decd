/** Timers, passed in so that tests can control time. */
export interface Timers {
  /** Runs `task` once, after at least `ms` milliseconds. Returns a function that cancels it. */
  after(ms: number, task: () => void): () => void;
}

/** The machine's timers. */
export const systemTimers: Timers = {
  after(ms, task) {
    const timer = setTimeout(task, ms);
    return () => clearTimeout(timer);
  },
};
