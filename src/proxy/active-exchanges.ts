import type { Directory } from '../ports/directory.ts';
import type { FactKey } from '../ports/facts.ts';

/** Something under way that lives by facts: a proxied exchange, or an open WebSocket. */
export interface Stream {
  /** Where {@link Streams} keeps it; nobody else's business. */
  place: number;
  /** Facts that must stay as they are for this to go on; empty while nothing was decided. */
  livesBy(): readonly FactKey[];
  /** Ends it because one of those facts was withdrawn. `false` where nothing has to be ended. */
  withdraw(): boolean;
  /** Ends it because the process is about to end, where it would not end by itself. */
  goAway?(): void;
  /** Called every now and then, to look for a side that has fallen silent. @param nowMs monotonic */
  check(nowMs: number): void;
}

/**
 * Everything under way. Entering and leaving is all a short exchange pays; the search for those who live by a fact
 * happens when one is withdrawn, which is rare.
 *
 * It is kept in an array from which the last one fills every gap. A Set would do the same at ten times the cost: each
 * table it outgrows points to the next one, and so hands everything that was ever in it to the old generation.
 */
export class Streams {
  readonly #live: Stream[] = [];

  get size(): number {
    return this.#live.length;
  }

  enter(stream: Stream): void {
    stream.place = this.#live.push(stream) - 1;
  }

  leave(stream: Stream): void {
    const last = this.#live.pop();
    if (last === undefined || last === stream) return;
    this.#live[stream.place] = last;
    last.place = stream.place;
  }

  /** @see Stream.check */
  check(nowMs: number): void {
    for (const stream of [...this.#live]) stream.check(nowMs);
  }

  /** @see Stream.goAway */
  goAway(): void {
    for (const stream of [...this.#live]) stream.goAway?.();
  }

  /** Ends what a directory's withdrawals concern, before they are confirmed. Returns how to stop. */
  follow(directory: Directory): () => void {
    const stops = [
      directory.onWithdrawn((keys) => this.#end((stream) => stream.livesBy().some((key) => keys.has(key)))),
      directory.onForgotten(() => this.#end(() => true)),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }

  #end(concerned: (stream: Stream) => boolean): number {
    let ended = 0;
    for (const stream of [...this.#live]) if (concerned(stream) && stream.withdraw()) ended += 1;
    return ended;
  }
}
