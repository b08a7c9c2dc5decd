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

/** Readings at once, keys in one, and keys that wait for one. */
const most = { readings: 4, keys: 128, waiting: 2_000 };

/** From the beginning of one reading to that of the next, unless there are enough keys for a whole one. */
const pauseMs = 5;

/**
 * Reads API keys from the source: one that comes alone at once, those that come shortly after another together.
 *
 * A client can send thousands of made-up keys a second. A statement for each would take most of the gateway's time, and
 * leave garbage whose collection delays the requests of known callers.
 */
export class KeyReads {
  readonly #clock: Clock;
  readonly #timers: Timers;
  readonly #mayWaitMs: number;
  readonly #read: (keys: readonly ApiKeyName[]) => Promise<FactReading>;
  readonly #waiting: Waiting[] = [];
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
   */
  read(key: ApiKeyName): Promise<FactReading> {
    if (this.#waiting.length >= most.waiting) return Promise.reject(overloaded());
    return new Promise((resolve, reject) => {
      this.#waiting.push({ key, sinceMs: this.#clock.monotonicMs(), resolve, reject });
      this.#begin();
    });
  }

  #begin(): void {
    this.#dropLate();
    while (this.#waiting.length > 0 && this.#readings < most.readings) {
      const nowMs = this.#clock.monotonicMs();
      if (nowMs < this.#nextMs && this.#waiting.length < most.keys)
        return this.#beginIn(this.#nextMs - nowMs);
      this.#nextMs = nowMs + pauseMs;
      const batch = this.#waiting.splice(0, most.keys);
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

  #beginIn(ms: number): void {
    if (this.#pausing) return;
    this.#pausing = true;
    this.#timers.after(ms, () => {
      this.#pausing = false;
      this.#begin();
    });
  }

  /** Drops look-ups that have waited so long that a reading which begins now could end after their requests have timed out. */
  #dropLate(): void {
    const since = this.#clock.monotonicMs() - this.#mayWaitMs;
    while (this.#waiting[0] !== undefined && this.#waiting[0].sinceMs < since)
      this.#waiting.shift()?.reject(unavailable());
  }
}
