import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits until `condition` holds, asking again and again; fails after `limitMs`.
 *
 * The limit only ends a test whose condition never comes: it has to be longer than anything takes on a machine that has
 * other things to do, and says nothing about how fast something should be.
 */
export async function eventually(
  condition: () => boolean | Promise<boolean>,
  { limitMs = 120_000, everyMs = 10 }: { readonly limitMs?: number; readonly everyMs?: number } = {},
): Promise<void> {
  const giveUp = performance.now() + limitMs;
  while (!(await condition())) {
    if (performance.now() > giveUp)
      throw new Error(`still not so after ${limitMs} ms: ${condition.toString()}`);
    await sleep(everyMs);
  }
}
