import type { FactKey } from '../ports/facts.ts';

type RevocationListener = (keys: ReadonlySet<FactKey>) => number;
type ChangedListener = (keys: ReadonlySet<FactKey>) => void;
type EndedListener = () => void;

/**
 * Passes revocations and changed keys on to the code that keeps exchanges open. Listeners are called before this
 * replica confirms the change.
 */
export class Revocations {
  readonly #revoked = new Set<RevocationListener>();
  readonly #changed = new Set<ChangedListener>();
  readonly #ended = new Set<EndedListener>();

  onRevoked(listener: RevocationListener): () => void {
    this.#revoked.add(listener);
    return () => void this.#revoked.delete(listener);
  }

  onKeysChanged(listener: ChangedListener): () => void {
    this.#changed.add(listener);
    return () => void this.#changed.delete(listener);
  }

  onEnded(listener: EndedListener): () => void {
    this.#ended.add(listener);
    return () => void this.#ended.delete(listener);
  }

  /** Ends the exchanges that depend on these facts. Returns how many exchanges ended. */
  announce(keys: ReadonlySet<FactKey>): number {
    let ended = 0;
    if (keys.size > 0) for (const listener of this.#revoked) ended += listener(keys);
    return ended;
  }

  /** Tells listeners that the records of these API keys have changed. */
  announceChanged(keys: ReadonlySet<FactKey>): void {
    if (keys.size > 0) for (const listener of this.#changed) listener(keys);
  }

  /** Ends every exchange that depends on facts. */
  announceAll(): void {
    for (const listener of this.#ended) listener();
  }
}
