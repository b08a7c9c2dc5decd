import type { CoherenceLog } from '../ports/coherence-log.ts';
import type { Timers } from '../ports/timers.ts';
import type { View } from './memory/view.ts';
import { repeat } from '../timing/repeat.ts';

/**
 * Number of changes that the log keeps. A replica that falls further behind starts over. If a value in the shared cache
 * is older than all kept changes, the fact is read from the source again. The log is limited by number, not by age, so
 * a clock that jumps deletes nothing.
 */
export const changesKept = 100_000;

const everyMs = 60_000;
/**
 * Maximum number of log entries that one statement deletes. A change to a fact whose entry is being deleted has to
 * wait.
 */
const mostAtOnce = 5_000;

interface RetentionParts {
  readonly log: Pick<CoherenceLog, 'prune'>;
  readonly view: Pick<View, 'applied' | 'incarnation' | 'evictedBelow'>;
  readonly timers: Timers;
}

/** Prunes the log every minute, in batches. Returns a function that stops the pruning. */
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
