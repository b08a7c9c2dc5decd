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

/** Limits on reads of API keys. A key does not name a tenant, so the clients' networks take turns. */
const keyLimits: ReadsLimits = {
  ...{ readings: 4, facts: 128, ofOne: 128, turn: 8, waitingOfOne: 2_000, waiting: 4_000 },
  ...{ gatherMs: 5, pauseMs: 0, tooMuchOfOne: overloaded },
};

/** Limits on reads of accounts, external ids and counts. Tenants take turns. */
const factLimits: ReadsLimits = {
  ...{ readings: 4, facts: 128, ofOne: 32, turn: 8, waitingOfOne: 2_000, waiting: 10_000 },
  ...{ gatherMs: 0, pauseMs: 50, tooMuchOfOne: tooManyLookUps },
};

/** A logical time within one process; later times have higher numbers. */
export type Moment = number;

/** A load in progress. */
interface Flight extends Named {
  readonly began: Moment;
  readonly fact: Promise<StampedFact>;
}

/**
 * Loads facts that are not in memory, from the shared cache if possible and otherwise from the source. Concurrent
 * requests that need the same fact share one load, unless they belong to different tenants.
 */
export class Loader {
  readonly #parts: LoaderParts;
  /**
   * Loads in progress, keyed by a digest of the fact's name. A Map would not do: when a Map grows, its old table keeps
   * a pointer to the new one. Under a flood of made-up keys, the old tables would keep all loads in memory until the
   * garbage collector cleans up the old generation.
   */
  readonly #flights = new DigestTable<Flight>();
  readonly #keyReads: Reads;
  readonly #factReads: Reads;
  #moment: Moment = 0;

  constructor(parts: LoaderParts) {
    this.#parts = parts;
    const read = (asked: Asked): Promise<FactReading> => this.#read(asked, 'all');
    // Keys are read separately, so that a flood of made-up keys cannot delay the facts that known callers need. A key
    // names no tenant, so such a flood cannot be limited by tenant.
    this.#keyReads = new Reads(parts, parts.timing, keyLimits, read);
    this.#factReads = new Reads(parts, parts.timing, factLimits, read);
  }

  /**
   * Reads these facts from the source, even if they are in memory or in the shared cache. Rejects with `unavailable`.
   */
  async prove(keys: Asked): Promise<void> {
    await this.#read(keys, 'what differed');
  }

  /**
   * Advances the logical time by one and returns it. A request takes this time when it arrives, and then accepts "does
   * not exist" only from a load that began later.
   */
  now(): Moment {
    return ++this.#moment;
  }

  /**
   * Loads a fact and puts it into memory if it is admitted. The caller must check the result's stamp in the same tick
   * in which it uses the fact. Rejects with `unavailable`, `overloaded` or `too_many_requests`.
   *
   * @param missing the fact and the tenant it is loaded for
   * @param arrived when the request arrived. "Does not exist" is accepted only from a load that began later: a creation
   * does not wait for the replicas, so an earlier load may lack something that was created before the request arrived
   * @param from network of the request's client; networks take turns at loading API keys
   */
  async load({ key, tenant }: MissingFact, arrived: Moment, from: string): Promise<StampedFact> {
    // A load waits for its tenant's turn. If tenants shared loads, one tenant would wait for another tenant's turn. So
    // the name of a load includes the tenant.
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
    // The stamp is ahead of this replica's position. Another replica that is slightly ahead may have written the value.
    // But another program may have written it with a made-up stamp, and memory would then keep it despite changes that
    // this replica has yet to read. So the fact is read from the source instead.
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
   * Reads facts from the source and puts them into memory and into the shared cache.
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
 * Returns the name of the queue in which a load of the fact waits; see {@link ReadsLimits}. An API key waits in the
 * queue of the client's network. An account waits in its own queue. An `external_id` or a count waits in the queue of
 * the parent in the fact's name.
 */
function turnOf(key: FactKey, from: string): string {
  return isApiKey(key) ? from : key.slice(2, 2 + uuidLength);
}

const uuidLength = 36;
