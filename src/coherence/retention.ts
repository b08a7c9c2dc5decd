import type { CoherenceLog } from '../ports/coherence-log.ts';
import type { Timers } from '../ports/timers.ts';
import type { View } from './memory/view.ts';
import { repeat } from './repeat.ts';

/**
 * How many changes the log keeps. A replica that is further behind begins anew, and values in the shared cache that are
 * older are read again. Counted, not timed: a clock that jumps, of the database or of a replica, deletes nothing.
 */
export const changesKept = 100_000;

const everyMs = 60_000;
/** Entries deleted by one statement, which holds up changes of the same facts for as long as it takes. */
const mostAtOnce = 5_000;

interface RetentionParts {
  readonly log: Pick<CoherenceLog, 'prune'>;
  readonly view: Pick<View, 'applied' | 'incarnation' | 'evictedBelow'>;
  readonly timers: Timers;
}

/** Prunes the log every now and then, portion by portion. Returns how to stop. */
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
