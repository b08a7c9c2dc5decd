/** What a change leaves in the coherence log, and what is read of a fact after it. */
import type { CoherenceLog } from '../../src/ports/coherence-log.ts';
import type { FactKey, FactSource } from '../../src/ports/facts.ts';

/** Makes a change alone. Returns what it returned, where the log stood before, and what has come to the log. */
export async function loggedBy<T>(log: CoherenceLog, change: () => PromiseLike<T>) {
  const { seq: before } = await log.replicas();
  const made = await change();
  const { entries } = await log.readAfter(before, 100_000);
  return { made, before, entries, keys: entries.map(({ key }) => key).sort() };
}

/** A fact as decisions read it; `null` where there is none. */
export async function factOf(facts: FactSource, key: FactKey): Promise<unknown> {
  return (await facts.readFacts([key])).facts.get(key);
}
