import type { Timers } from '../ports/timers.ts';

/** Settles like `promise`, but rejects if that takes longer than `ms` milliseconds. A later result is ignored. */
export function within<T>(timers: Timers, ms: number, promise: Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const cancel = timers.after(ms, () => reject(new Error(`no result within ${Math.round(ms)} ms`)));
    const settled = (): void => cancel();
    promise.then(resolve, reject);
    promise.then(settled, settled);
  });
}
