import { Turns } from '../../domain/turns.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ApiKeyName, FactReading } from '../../ports/facts.ts';
import type { Timers } from '../../ports/timers.ts';
import { overloaded, unavailable } from '../unavailable.ts';
import type { Timing } from '../timing.ts';

interface Waiting {
  readonly key: ApiKeyName;
  readonly sinceMs: number;
  readonly resolve: (reading: FactReading) => void;
  readonly reject: (error: unknown) => void;
}

/** Readings at once, keys in one and of one network's turn in it, and keys that wait for one (of one network, of all). */
const most = { readings: 4, keys: 128, turn: 8, waitingOfOne: 2_000, waiting: 4_000 };

/** From the beginning of one reading to that of the next, unless there are enough keys for a whole one. */
const pauseMs = 5;

/**
 * Reads API keys from the source: one that comes alone at once, those that come shortly after another together.
 *
 * A client can send thousands of made-up keys a second. A statement for each would take most of the gateway's time, and
 * leave garbage whose collection delays the requests of known callers. A key says of no tenant, so the networks of clients
 * take turns: a key that comes from another network is in the next reading, however many one of them has waiting.
 */
export class KeyReads {
  readonly #clock: Clock;
  readonly #timers: Timers;
  readonly #mayWaitMs: number;
  readonly #read: (keys: readonly ApiKeyName[]) => Promise<FactReading>;
  readonly #waiting = new Turns<Waiting>();
  #readings = 0;
  #nextMs = -Infinity;
  #pausing = false;

  /** @param read ends within {@link Timing.storeMs} */
  constructor(
    { clock, timers }: { readonly clock: Clock; readonly timers: Timers },
    { lookUpMs, storeMs }: Timing,
    read: (keys: readonly ApiKeyName[]) => Promise<FactReading>,
  ) {
    this.#clock = clock;
    this.#timers = timers;
    this.#mayWaitMs = lookUpMs - storeMs;
    this.#read = read;
  }

  /**
   * A reading in which the key is, and others with it. Begins after this call.
   *
   * Rejects with `overloaded` where too many wait already, with `unavailable` where it would take longer than
   * {@link Timing.lookUpMs}, and as the reading does.
   *
   * @param from the network of the client that sent the key
   */
  read(key: ApiKeyName, from: string): Promise<FactReading> {
    if (this.#waiting.sizeOf(from) >= most.waitingOfOne) return Promise.reject(overloaded());
    if (this.#waiting.size >= most.waiting) return Promise.reject(overloaded());
    return new Promise((resolve, reject) => {
      this.#waiting.add(from, { key, sinceMs: this.#clock.monotonicMs(), resolve, reject });
      this.#begin();
    });
  }

  #begin(): void {
    while (this.#waiting.size > 0 && this.#readings < most.readings) {
      const nowMs = this.#clock.monotonicMs();
      if (nowMs < this.#nextMs && this.#waiting.size < most.keys) return this.#beginIn(this.#nextMs - nowMs);
      const batch = this.#nextBatch(nowMs - this.#mayWaitMs);
      if (batch.length === 0) return;
      this.#nextMs = nowMs + pauseMs;
      this.#readings += 1;
      this.#read(batch.map(({ key }) => key))
        .then(
          (reading) => batch.forEach(({ resolve }) => resolve(reading)),
          (error: unknown) => batch.forEach(({ reject }) => reject(error)),
        )
        .finally(() => {
          this.#readings -= 1;
          this.#begin();
        });
    }
  }

  /**
   * Keys for one reading, some of each network in turn. Drops those that have waited so long that a reading which begins now
   * could end after their requests have timed out.
   *
   * @param since those that wait since before this are dropped; monotonic milliseconds
   */
  #nextBatch(since: number): Waiting[] {
    const batch: Waiting[] = [];
    while (batch.length < most.keys) {
      const turn = this.#waiting.take(Math.min(most.turn, most.keys - batch.length));
      if (turn === undefined) break;
      for (const waiting of turn.things) {
        if (waiting.sinceMs < since) waiting.reject(unavailable());
        else batch.push(waiting);
      }
    }
    return batch;
  }

  #beginIn(ms: number): void {
    if (this.#pausing) return;
    this.#pausing = true;
    this.#timers.after(ms, () => {
      this.#pausing = false;
      this.#begin();
    });
  }
}
