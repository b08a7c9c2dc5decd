/** Milliseconds of the system's monotonic clock: the same in every process of a run, unlike `performance.now()`. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
