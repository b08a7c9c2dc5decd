import type { Directory } from '../ports/directory.ts';
import type { FactKey } from '../ports/facts.ts';
import type { RequestParties } from '../ports/request-record.ts';
import type { OpenCounts } from '../ports/tails.ts';
import type { ExchangeState } from './exchange-states.ts';

/** An exchange in progress that depends on facts: a proxied request, or an open WebSocket. */
export interface ActiveExchange {
  /** Index in the array of {@link ActiveExchanges}. Only `ActiveExchanges` writes it. */
  slot: number;
  readonly state: ExchangeState;
  /** Key and accounts that the exchange is by, as far as it is decided. */
  parties(): RequestParties;
  /** Facts whose revocation ends the exchange; empty before the decision. */
  dependsOn(): readonly FactKey[];
  /**
   * Ends the exchange because a fact was revoked. Returns `false` if the exchange does not have to end.
   *
   * @param unheard whether this replica cannot tell what was revoked. A WebSocket then gets no close frame, so that its
   * client connects again
   */
  revoke(unheard?: boolean): boolean;
  /** Called when the API key's record has changed without a revocation. The key may now expire at a different time. */
  keyChanged(): void;
  /**
   * Closes an open WebSocket because the process is shutting down. Does nothing for other exchanges, which end on their
   * own.
   */
  goAway(): void;
  /** Records that the API key is in use. */
  noteUse(): void;
  /** Updates the usage figures with the bytes sent and received since the previous call. */
  noteBytes(): void;
  /**
   * Called at intervals. Ends the exchange if one side has been idle for too long or the API key has expired.
   *
   * @param nowMs monotonic time
   */
  check(nowMs: number): void;
}

/**
 * All active exchanges. `enter` and `leave` are cheap, because they are called for every request. Revocations are rare,
 * so each may search all exchanges for those that depend on the revoked fact.
 *
 * The exchanges are kept in an array. When an exchange leaves, the last exchange in the array moves to the free index.
 * A Set would cost ten times as much, because V8's garbage collector would treat every exchange as a long-lived object.
 */
export class ActiveExchanges {
  readonly #active: ActiveExchange[] = [];

  get size(): number {
    return this.#active.length;
  }

  /** Adds the number of exchanges in each state to `counts`. Use it sparingly, because it visits all exchanges. */
  countInto(counts: Map<ExchangeState, number>): void {
    for (const { state } of this.#active) counts.set(state, (counts.get(state) ?? 0) + 1);
  }

  /** Counts the exchanges whose parties match. Use it sparingly, like {@link countInto}. */
  countOpen(matches: (parties: RequestParties) => boolean): OpenCounts {
    const open = this.#active.filter((exchange) => matches(exchange.parties()));
    const streams = open.filter(({ state }) => state === 'open' || state === 'responding').length;
    return { requests: open.length - streams, streams };
  }

  enter(exchange: ActiveExchange): void {
    exchange.slot = this.#active.push(exchange) - 1;
  }

  /** Removes an exchange. Does nothing if it has already left. */
  leave(exchange: ActiveExchange): void {
    if (this.#active[exchange.slot] !== exchange) return;
    const last = this.#active.pop();
    if (last === undefined || last === exchange) return;
    this.#active[exchange.slot] = last;
    last.slot = exchange.slot;
  }

  /** @see ActiveExchange.check */
  check(nowMs: number): void {
    for (const exchange of [...this.#active]) exchange.check(nowMs);
  }

  /** @see ActiveExchange.noteUse */
  noteUse(): void {
    for (const exchange of [...this.#active]) exchange.noteUse();
  }

  /** @see ActiveExchange.noteBytes */
  noteBytes(): void {
    for (const exchange of this.#active) exchange.noteBytes();
  }

  /** @see ActiveExchange.goAway */
  goAway(): void {
    for (const exchange of [...this.#active]) exchange.goAway();
  }

  /**
   * Subscribes to the directory. Before a revocation is confirmed, ends the exchanges that depend on the revoked facts.
   * If a key's record has changed, notifies the key's exchanges. If the directory can no longer tell which facts have
   * changed, ends all exchanges that depend on facts.
   *
   * @returns a function that unsubscribes
   */
  follow(directory: Directory): () => void {
    const stops = [
      directory.onRevoked((keys) => this.#concerned(keys).filter((exchange) => exchange.revoke()).length),
      directory.onKeysChanged((keys) => {
        for (const exchange of this.#concerned(keys)) exchange.keyChanged();
      }),
      directory.onEnded(() => this.endAll()),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }

  /** Ends all exchanges that depend on facts. */
  endAll(): void {
    for (const exchange of [...this.#active]) if (exchange.dependsOn().length > 0) exchange.revoke(true);
  }

  #concerned(keys: ReadonlySet<FactKey>): ActiveExchange[] {
    return [...this.#active].filter((exchange) => exchange.dependsOn().some((key) => keys.has(key)));
  }
}
