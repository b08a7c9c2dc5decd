import { hash } from 'node:crypto';
import type { Clock } from '../../ports/clock.ts';
import type { FactCache, StampedFact } from '../../ports/fact-cache.ts';
import type { ApiKeyName, Asked, FactKey, FactReading, FactSource } from '../../ports/facts.ts';
import type { Timers } from '../../ports/timers.ts';
import { DigestTable } from '../memory/digest-table.ts';
import type { CoherenceEvents } from '../events.ts';
import { Gate } from './gate.ts';
import type { Named } from '../memory/entry.ts';
import { KeyReads } from './key-reads.ts';
import type { Timing } from '../timing.ts';
import { unavailable } from '../unavailable.ts';
import type { View } from '../memory/view.ts';
import { within } from '../within.ts';

export interface LoaderParts {
  readonly view: View;
  readonly cache: FactCache;
  readonly source: FactSource;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly timing: Timing;
  readonly events: CoherenceEvents;
}

/** Moments in the life of one process, in order. */
export type Moment = number;

/** A load under way. */
interface Flight extends Named {
  readonly began: Moment;
  readonly fact: Promise<StampedFact>;
}

/**
 * Readings of the source at once, and waiting for that. Keys do not go through it: a flood of made-up keys must not keep
 * known callers from their facts.
 */
const factGate = { atOnce: 8, waiting: 10_000 };

/** Fetches facts that memory does not hold: from the shared cache, else from the source, once for all who ask. */
export class Loader {
  readonly #parts: LoaderParts;
  /**
   * By the digest of the fact's name. In a Map each table it outgrows points to the next one, so that under a flood of
   * made-up keys everything ever loaded would live until the old generation is collected.
   */
  readonly #flights = new DigestTable<Flight>();
  readonly #keyReads: KeyReads;
  readonly #factGate = new Gate(factGate.atOnce, factGate.waiting);
  #moment: Moment = 0;

  constructor(parts: LoaderParts) {
    this.#parts = parts;
    this.#keyReads = new KeyReads(parts, parts.timing, (keys) => this.#read(keys));
  }

  /** The present moment: what is loaded for a request must not be a "there is none" from before it. */
  now(): Moment {
    return ++this.#moment;
  }

  /**
   * Loads a fact, and puts it into memory where memory may have it. The caller checks the result in the tick in
   * which it is used. Rejects with `unavailable` or `overloaded`.
   *
   * @param arrived when the request arrived: a mutation that creates something does not wait for replicas, so "there is
   *   none" counts only if it was read after that
   */
  async load(key: FactKey, arrived: Moment): Promise<StampedFact> {
    const name = hash('sha256', key, 'base64url');
    for (;;) {
      const flight = this.#flights.get(name) ?? this.#begin(key, name);
      const fact = await flight.fact;
      if (fact.value !== null || flight.began > arrived) return fact;
    }
  }

  #begin(key: FactKey, name: string): Flight {
    const fact = this.#fetch(key).finally(() => this.#flights.delete(flight));
    const flight: Flight = { name, began: this.now(), fact };
    this.#flights.add(flight);
    return flight;
  }

  async #fetch(key: FactKey): Promise<StampedFact> {
    return (await this.#fromCache(key)) ?? (await this.#fromSource(key));
  }

  async #fromCache(key: FactKey): Promise<StampedFact | undefined> {
    const { cache, view, events } = this.#parts;
    const fact = (await cache.get([key])).get(key);
    if (fact === undefined || fact.value === null) {
      events.sharedCacheMiss?.();
      return undefined;
    }
    if (!view.admits(key, fact)) {
      events.staleRefused?.('shared-cache');
      return undefined;
    }
    events.sharedCacheHit?.();
    view.keep(key, fact);
    return fact;
  }

  async #fromSource(key: FactKey): Promise<StampedFact> {
    const { view, events } = this.#parts;
    const { seq, incarnation, facts } = await this.#readingOf(key);
    const fact = { value: facts.get(key) ?? null, seq, incarnation };
    if (!view.admits(key, fact)) events.staleRefused?.('source');
    return fact;
  }

  async #readingOf(key: FactKey): Promise<FactReading> {
    try {
      return await (isApiKey(key) ? this.#keyReads.read(key) : this.#readInTurn(key));
    } catch (error) {
      throw unavailable(error);
    }
  }

  #readInTurn(key: FactKey): Promise<FactReading> {
    const { clock, timers, timing } = this.#parts;
    const giveUpMs = clock.monotonicMs() + timing.settleMs;
    const read = (): Promise<FactReading> =>
      // The request that wanted this fact has been given up by now.
      clock.monotonicMs() >= giveUpMs ? Promise.reject(unavailable()) : this.#read([key]);
    return within(timers, timing.settleMs, this.#factGate.run(read));
  }

  /** Reads the source, and puts what it says wherever it may be kept. */
  async #read(asked: Asked): Promise<FactReading> {
    const { cache, view, source, timers, timing } = this.#parts;
    const reading = await within(timers, timing.stepMs, source.readFacts(asked));
    const { seq, incarnation, facts } = reading;
    const shared = new Map<FactKey, StampedFact>();
    for (const [key, value] of facts) {
      const fact = { value, seq, incarnation };
      view.keep(key, fact);
      if (value !== null) shared.set(key, fact);
    }
    if (shared.size > 0) cache.set(shared);
    return reading;
  }
}

function isApiKey(key: FactKey): key is ApiKeyName {
  return key.startsWith('k:');
}
