import { dayMs } from '../../src/domain/usage.ts';
import { eventually } from './eventually.ts';

/** Waits until today, by UTC, goes on for at least a minute: for tests of what a day has counted. */
export async function awayFromMidnight(): Promise<void> {
  await eventually(() => dayMs - (Date.now() % dayMs) > 60_000, { everyMs: 1_000 });
}
