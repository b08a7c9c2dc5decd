import type { FactKey } from '../ports/facts.ts';

type WithdrawnListener = (keys: ReadonlySet<FactKey>) => number;
type ForgottenListener = () => number;

/** Those who hold streams open and must end them before a change is confirmed. */
export class Withdrawals {
  readonly #withdrawn = new Set<WithdrawnListener>();
  readonly #forgotten = new Set<ForgottenListener>();

  onWithdrawn(listener: WithdrawnListener): () => void {
    this.#withdrawn.add(listener);
    return () => void this.#withdrawn.delete(listener);
  }

  onForgotten(listener: ForgottenListener): () => void {
    this.#forgotten.add(listener);
    return () => void this.#forgotten.delete(listener);
  }

  /** Ends the streams that live by `keys`. Returns how many. */
  announce(keys: ReadonlySet<FactKey>): number {
    let ended = 0;
    if (keys.size > 0) for (const listener of this.#withdrawn) ended += listener(keys);
    return ended;
  }

  /** Ends every stream. Returns how many. */
  announceAll(): number {
    let ended = 0;
    for (const listener of this.#forgotten) ended += listener();
    return ended;
  }
}
