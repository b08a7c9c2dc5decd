// @ts-check
import { availableParallelism, loadavg } from 'node:os';

/**
 * How many times as long everything takes as on a machine that does nothing else. Limits that only end what hangs are as
 * many times longer.
 */
export function slowdown() {
  return Math.max(1, (loadavg()[0] ?? 0) / availableParallelism());
}
