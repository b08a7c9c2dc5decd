import type { CoherenceLog } from '../ports/coherence-log.ts';
import type { Timers } from '../ports/timers.ts';
import type { View } from './memory/view.ts';
import { repeat } from '../timing/repeat.ts';

/**
 * Number of changes that the log keeps. A replica that is further behind begins anew, and values in the shared cache
 * that are older are read again. The limit is a number and not an age, so a jump of a clock, in the database or on a
 * replica, deletes nothing.
 */
export const changesKept = 100_000;

const everyMs = 60_000;
/** Maximum number of entries that one statement deletes. Changes of the same facts have to wait for the statement. */
const mostAtOnce = 5_000;

interface RetentionParts {
  readonly log: Pick<CoherenceLog, 'prune'>;
  readonly view: Pick<View, 'applied' | 'incarnation' | 'evictedBelow'>;
  readonly timers: Timers;
}

/** Prunes the log every minute, in portions. Returns a function that stops this. */
export function keepLogShort(parts: RetentionParts): () => void {
  return repeat(parts.timers, everyMs, () => prune(parts));
}

async function prune({ log, view }: RetentionParts): Promise<void> {
  for (;;) {
    const { incarnation } = view;
    if (incarnation === null) return;
    const before = Math.max(view.applied - changesKept, view.evictedBelow);
    if (before <= 0) return;
    const more = await log.prune({ incarnation, before, most: mostAtOnce });
    if (!more) return;
  }
}
