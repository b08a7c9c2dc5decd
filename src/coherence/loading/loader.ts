import { hash } from 'node:crypto';
import type { Clock } from '../../ports/clock.ts';
import type { FactCache, StampedFact } from '../../ports/fact-cache.ts';
import type { ApiKeyName, Asked, FactKey, FactReading, FactSource } from '../../ports/facts.ts';
import type { MissingFact } from '../../ports/directory.ts';
import type { Timers } from '../../ports/timers.ts';
import { DigestTable, type Named } from '../memory/tables.ts';
import type { CoherenceEvents } from '../events.ts';
import { Reads, type ReadsLimits } from './reads.ts';
import type { Timing } from '../timing.ts';
import { overloaded, tooManyLookUps, unavailable } from '../unavailable.ts';
import type { View } from '../memory/view.ts';

export interface LoaderParts {
  readonly view: View;
  readonly cache: FactCache;
  readonly source: FactSource;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly timing: Timing;
  readonly events: CoherenceEvents;
}

/** Limits on readings of API keys. A key names no tenant, so the networks of clients take turns instead. */
const keyLimits: ReadsLimits = {
  ...{ readings: 4, facts: 128, ofOne: 128, turn: 8, waitingOfOne: 2_000, waiting: 4_000 },
  ...{ gatherMs: 5, pauseMs: 0, tooMuchOfOne: overloaded },
};

/** Limits on readings of accounts, external ids and counts, for which tenants take turns. */
const factLimits: ReadsLimits = {
  ...{ readings: 4, facts: 128, ofOne: 32, turn: 8, waitingOfOne: 2_000, waiting: 10_000 },
  ...{ gatherMs: 0, pauseMs: 50, tooMuchOfOne: tooManyLookUps },
};

/** Number of a moment in the life of one process; later moments have higher numbers. */
export type Moment = number;

/** A load that has not ended yet. */
interface Flight extends Named {
  readonly began: Moment;
  readonly fact: Promise<StampedFact>;
}

/**
 * Loads facts that memory does not hold, from the shared cache or else from the source. Callers that need the same fact
 * at the same time share one load.
 */
export class Loader {
  readonly #parts: LoaderParts;
  /**
   * The loads that are running, each under a digest of its fact's name. This is not a Map, because each outgrown table
   * of a Map points to the next one: under a flood of made-up keys, all loads would stay in memory until the garbage
   * collector cleans up the old generation.
   */
  readonly #flights = new DigestTable<Flight>();
  readonly #keyReads: Reads;
  readonly #factReads: Reads;
  #moment: Moment = 0;

  constructor(parts: LoaderParts) {
    this.#parts = parts;
    const read = (asked: Asked): Promise<FactReading> => this.#read(asked, 'all');
    // Keys have their own reads because they name no tenant: a flood of made-up keys must not delay the facts of known
    // callers.
    this.#keyReads = new Reads(parts, parts.timing, keyLimits, read);
    this.#factReads = new Reads(parts, parts.timing, factLimits, read);
  }

  /** Reads these facts from the source, even if memory and the shared cache hold them. Rejects with `unavailable`. */
  async prove(keys: Asked): Promise<void> {
    await this.#read(keys, 'what differed');
  }

  /**
   * Starts a new moment and returns its number. A request that arrives at this moment trusts "does not exist" only from
   * a load that began later.
   */
  now(): Moment {
    return ++this.#moment;
  }

  /**
   * Loads a fact, and puts it into memory if it is admitted. The caller must check the stamp of the result in the tick
   * that uses it. Rejects with `unavailable`, `overloaded` or `too_many_requests`.
   *
   * @param missing the fact, and the tenant that it is loaded for; tenants take turns
   * @param arrived moment at which the request arrived. A mutation that creates something does not wait for replicas,
   * so "does not exist" counts only if the load began after that moment
   * @param from the network of the request's client; loads of API keys take turns by network
   */
  async load({ key, tenant }: MissingFact, arrived: Moment, from: string): Promise<StampedFact> {
    // Only requests of one tenant share a load, because another tenant would have to wait for the first tenant's turns.
    const name = hash('sha256', tenant === undefined ? key : `${key} ${tenant}`, 'base64url');
    for (;;) {
      const flight = this.#flights.get(name) ?? this.#begin(key, tenant ?? turnOf(key, from), name);
      const fact = await flight.fact;
      if (fact.value !== null || flight.began > arrived) return fact;
    }
  }

  #begin(key: FactKey, turn: string, name: string): Flight {
    const fact = this.#fetch(key, turn).finally(() => this.#flights.delete(flight));
    const flight: Flight = { name, began: this.now(), fact };
    this.#flights.add(flight);
    return flight;
  }

  async #fetch(key: FactKey, turn: string): Promise<StampedFact> {
    return (await this.#fromCache(key)) ?? (await this.#fromSource(key, turn));
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
    // The value may come from a replica that is a moment ahead. But a program that writes to the cache may also have
    // invented the stamp; such a value would still be admitted after a change that this replica has yet to read. So the
    // source is asked instead, which costs one reading.
    if (fact.seq > view.applied) {
      events.sharedCacheAhead?.();
      return undefined;
    }
    events.sharedCacheHit?.();
    view.keep(key, fact, this.#nowS());
    return fact;
  }

  async #fromSource(key: FactKey, turn: string): Promise<StampedFact> {
    const { view, events } = this.#parts;
    const { seq, incarnation, facts } = await this.#readingOf(key, turn);
    const fact = { value: facts.get(key) ?? null, seq, incarnation };
    if (!view.admits(key, fact)) events.staleRefused?.('source');
    return fact;
  }

  async #readingOf(key: FactKey, turn: string): Promise<FactReading> {
    try {
      return await (isApiKey(key) ? this.#keyReads.read(key, turn) : this.#factReads.read(key, turn));
    } catch (error) {
      throw unavailable(error);
    }
  }

  /**
   * Reads the source, and puts the values into memory and into the shared cache.
   *
   * @param shares values to put into the shared cache: all, or only those that differed from memory
   */
  async #read(asked: Asked, shares: 'all' | 'what differed'): Promise<FactReading> {
    const { cache, view, source } = this.#parts;
    const nowS = this.#nowS();
    const reading = await source.readFacts(asked);
    const { seq, incarnation, facts } = reading;
    const shared = new Map<FactKey, StampedFact>();
    for (const [key, value] of facts) {
      const fact = { value, seq, incarnation };
      const differed = view.keep(key, fact, nowS);
      if (value !== null && (differed || shares === 'all')) shared.set(key, fact);
    }
    if (shared.size > 0) cache.set(shared);
    return reading;
  }

  #nowS(): number {
    return Math.floor(this.#parts.clock.monotonicMs() / 1_000);
  }
}

function isApiKey(key: FactKey): key is ApiKeyName {
  return key.startsWith('k:');
}

/**
 * Returns the asker that a fact is loaded for; askers take turns. For an API key, it is the client's network; otherwise
 * it is the account in the fact's name (the account itself, or the parent of the `external_id` or count).
 */
function turnOf(key: FactKey, from: string): string {
  return isApiKey(key) ? from : key.slice(2, 2 + uuidLength);
}

const uuidLength = 36;
