import { Turns } from '../../domain/turns.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ApiKeyName, FactKey, FactReading } from '../../ports/facts.ts';
import type { Timers } from '../../ports/timers.ts';
import { overloaded, tooManyLookUps, unavailable } from '../unavailable.ts';
import type { Timing } from '../timing.ts';
import { within } from '../within.ts';

/** Any fact but an API key. */
type OtherFact = Exclude<FactKey, ApiKeyName>;

interface Waiting {
  readonly key: OtherFact;
  readonly giveUpMs: number;
  readonly resolve: (reading: FactReading) => void;
  readonly reject: (error: unknown) => void;
}

/** Readings at once, facts in one, facts that wait (of one tenant, of all), and milliseconds between two of one tenant. */
const most = { readings: 8, facts: 32, waitingOfOne: 2_000, waiting: 10_000, pauseMs: 50 };

/**
 * Reads facts that are not API keys from the source, each for a tenant. Tenants take turns. A tenant has one reading at a
 * time, and what it asks for meanwhile goes into its next one: a client that makes up a thousand names at once costs a
 * few statements, and another tenant's one name waits for none of them.
 *
 * What a reading brings is worked on by this process, which has one thread for all tenants. So a reading is for few
 * facts, and while more of the same tenant waits, it pauses after each for as long as that one took: where its requests keep
 * the thread busy, that is longer, and half of the time is left to others however many the tenant sends.
 */
export class FactReads {
  readonly #clock: Clock;
  readonly #timers: Timers;
  readonly #lookUpMs: number;
  readonly #read: (facts: readonly [FactKey, ...FactKey[]]) => Promise<FactReading>;
  readonly #waiting = new Turns<Waiting>();
  /** Whose facts are being read, and who pauses after that. */
  readonly #busy = new Set<string>();
  #readings = 0;

  /** @param read ends within {@link Timing.storeMs} */
  constructor(
    { clock, timers }: { readonly clock: Clock; readonly timers: Timers },
    { lookUpMs }: Timing,
    read: (facts: readonly [FactKey, ...FactKey[]]) => Promise<FactReading>,
  ) {
    this.#clock = clock;
    this.#timers = timers;
    this.#lookUpMs = lookUpMs;
    this.#read = read;
  }

  /**
   * A reading in which the fact is, and others with it. Begins after this call.
   *
   * Rejects with `too_many_requests` where too much of this tenant waits already and with `overloaded` where too much of
   * all does, after {@link Timing.lookUpMs}, and as the reading does.
   */
  read(key: OtherFact, tenant: string): Promise<FactReading> {
    // Names are read by one statement, accounts and counts by another one.
    const line = `${key.startsWith('x:') ? 'x' : 'a'} ${tenant}`;
    if (this.#waiting.sizeOf(line) >= most.waitingOfOne) return Promise.reject(tooManyLookUps());
    if (this.#waiting.size >= most.waiting) return Promise.reject(overloaded());
    const giveUpMs = this.#clock.monotonicMs() + this.#lookUpMs;
    const reading = new Promise<FactReading>((resolve, reject) => {
      this.#waiting.add(line, { key, giveUpMs, resolve, reject });
    });
    this.#begin();
    return within(this.#timers, this.#lookUpMs, reading);
  }

  #begin(): void {
    while (this.#readings < most.readings) {
      const turn = this.#waiting.take(most.facts, (line) => !this.#busy.has(line));
      if (turn === undefined) return;
      const [first, ...others] = this.#inTime(turn.things);
      if (first !== undefined) this.#readFor(turn.tenant, [first, ...others]);
    }
  }

  #readFor(line: string, batch: readonly [Waiting, ...Waiting[]]): void {
    const beganMs = this.#clock.monotonicMs();
    this.#busy.add(line);
    this.#readings += 1;
    const [first, ...others] = batch;
    this.#read([first.key, ...others.map(({ key }) => key)])
      .then(
        (reading) => batch.forEach(({ resolve }) => resolve(reading)),
        (error: unknown) => batch.forEach(({ reject }) => reject(error)),
      )
      .finally(() => {
        this.#readings -= 1;
        const tookMs = this.#clock.monotonicMs() - beganMs;
        // A tenant that asks for one fact after the other does not crowd others out.
        if (tookMs === 0 || this.#waiting.sizeOf(line) === 0) return this.#goOn(line);
        this.#timers.after(Math.min(tookMs, most.pauseMs), () => this.#goOn(line));
        this.#begin();
      });
  }

  #goOn(line: string): void {
    this.#busy.delete(line);
    this.#waiting.moveBack(line);
    this.#begin();
  }

  /** Those whose requests have not been given up by now. */
  #inTime(things: readonly Waiting[]): readonly Waiting[] {
    const nowMs = this.#clock.monotonicMs();
    return things.filter(({ giveUpMs, reject }) => {
      if (nowMs < giveUpMs) return true;
      reject(unavailable());
      return false;
    });
  }
}
