import type { CoherenceLog } from '../ports/coherence-log.ts';
import type { Timers } from '../ports/timers.ts';
import type { View } from './memory/view.ts';
import { repeat } from '../timing/repeat.ts';

/**
 * Number of changes that the log keeps. A replica that is further behind begins anew, and older values in the shared
 * cache are read again. It is a count, not a time: a clock that jumps, in the database or on a replica, deletes
 * nothing.
 */
export const changesKept = 100_000;

const everyMs = 60_000;
/** Most entries that one statement deletes; it delays changes of the same facts meanwhile. */
const mostAtOnce = 5_000;

interface RetentionParts {
  readonly log: Pick<CoherenceLog, 'prune'>;
  readonly view: Pick<View, 'applied' | 'incarnation' | 'evictedBelow'>;
  readonly timers: Timers;
}

/** Prunes the log now and then, portion by portion. Returns a function that stops it. */
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
