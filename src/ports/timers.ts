/** Waiting, passed in so that tests can choose how time passes. */
export interface Timers {
  /** Runs `task` once, `ms` milliseconds from now or later. Returns how to call it off. */
  after(ms: number, task: () => void): () => void;
}

/** The machine's timers. */
export const systemTimers: Timers = {
  after(ms, task) {
    const timer = setTimeout(task, ms);
    return () => clearTimeout(timer);
  },
};
