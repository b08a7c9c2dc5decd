import type { FactKey } from '../ports/facts.ts';

type RevocationListener = (keys: ReadonlySet<FactKey>) => number;
type ForgottenListener = () => number;

/** What keeps exchanges open and must end them before this replica confirms a change. */
export class Revocations {
  readonly #revoked = new Set<RevocationListener>();
  readonly #forgotten = new Set<ForgottenListener>();

  onRevoked(listener: RevocationListener): () => void {
    this.#revoked.add(listener);
    return () => void this.#revoked.delete(listener);
  }

  onForgotten(listener: ForgottenListener): () => void {
    this.#forgotten.add(listener);
    return () => void this.#forgotten.delete(listener);
  }

  /** Ends the exchanges that depend on `keys`. Returns how many. */
  announce(keys: ReadonlySet<FactKey>): number {
    let ended = 0;
    if (keys.size > 0) for (const listener of this.#revoked) ended += listener(keys);
    return ended;
  }

  /** Ends every exchange. Returns how many. */
  announceAll(): number {
    let ended = 0;
    for (const listener of this.#forgotten) ended += listener();
    return ended;
  }
}
