import type { Directory } from '../ports/directory.ts';
import type { FactKey } from '../ports/facts.ts';

/** Something under way that depends on facts: a proxied request, or an open WebSocket. */
export interface ActiveExchange {
  /** Where {@link ActiveExchanges} keeps it, and nothing else writes to. */
  slot: number;
  /** Facts that must stay as they are for this to go on; empty while nothing was decided. */
  dependsOn(): readonly FactKey[];
  /** Ends it because one of those facts was revoked. `false` where nothing has to be ended. */
  revoke(): boolean;
  /** Ends it because the process is about to end, where it would not end by itself. */
  goAway(): void;
  /** Called every now and then, to look for a side that has fallen silent. @param nowMs monotonic */
  check(nowMs: number): void;
}

/**
 * Everything under way. Entering and leaving is all a short exchange pays; the search for those that depend on a fact
 * happens when one is revoked, which is rare.
 *
 * They are kept in an array in which the last one fills every gap. A Set would do the same at ten times the cost: each
 * table it outgrows points to the next one, and so hands everything that was ever in it to the old generation.
 */
export class ActiveExchanges {
  readonly #active: ActiveExchange[] = [];

  get size(): number {
    return this.#active.length;
  }

  enter(exchange: ActiveExchange): void {
    exchange.slot = this.#active.push(exchange) - 1;
  }

  leave(exchange: ActiveExchange): void {
    const last = this.#active.pop();
    if (last === undefined || last === exchange) return;
    this.#active[exchange.slot] = last;
    last.slot = exchange.slot;
  }

  /** @see ActiveExchange.check */
  check(nowMs: number): void {
    for (const exchange of [...this.#active]) exchange.check(nowMs);
  }

  /** @see ActiveExchange.goAway */
  goAway(): void {
    for (const exchange of [...this.#active]) exchange.goAway();
  }

  /** Ends what a directory's revocations concern, before they are confirmed. Returns how to stop. */
  follow(directory: Directory): () => void {
    const stops = [
      directory.onRevoked((keys) =>
        this.#end((exchange) => exchange.dependsOn().some((key) => keys.has(key))),
      ),
      directory.onForgotten(() => this.#end(() => true)),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }

  #end(concerned: (exchange: ActiveExchange) => boolean): number {
    let ended = 0;
    for (const exchange of [...this.#active]) if (concerned(exchange) && exchange.revoke()) ended += 1;
    return ended;
  }
}
