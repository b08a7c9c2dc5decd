import { setTimeout as sleep } from 'node:timers/promises';
import { slowdown } from '../runner/slowdown.mjs';

/** Longer than anything takes on a machine that does nothing else. */
const usualMs = 120_000;

/**
 * Waits until `condition` holds, asking again and again; fails after `limitMs`, or after as long as nothing takes on a
 * machine that is as busy as this. That only ends a test whose condition never comes.
 */
export async function eventually(
  condition: () => boolean | Promise<boolean>,
  { limitMs, everyMs = 10 }: { readonly limitMs?: number; readonly everyMs?: number } = {},
): Promise<void> {
  const began = performance.now();
  while (!(await condition())) {
    const tookMs = performance.now() - began;
    if (tookMs > (limitMs ?? usualMs * slowdown()))
      throw new Error(`still not so after ${Math.round(tookMs)} ms: ${condition.toString()}`);
    await sleep(everyMs);
  }
}
