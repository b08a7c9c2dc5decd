import type { KeyDigest } from '../domain/api-key.ts';
import type { AccountId } from '../domain/ids.ts';
import type { Clock } from '../ports/clock.ts';
import { MissingFact, type Directory, type Evaluate, type Facts, type Lookup } from '../ports/directory.ts';
import type { StampedFact } from '../ports/fact-cache.ts';
import {
  factKey,
  type AccountFact,
  type FactKey,
  type FactValue,
  type KeyFact,
  type PlanFact,
} from '../ports/facts.ts';
import type { CoherenceEvents } from './events.ts';
import type { Lease } from './lease.ts';
import type { Entry } from './memory/tables.ts';
import type { Loader } from './loading/loader.ts';
import type { Timing } from './timing.ts';
import { unavailable } from './unavailable.ts';
import type { View } from './memory/view.ts';
import type { Revocations } from './revocations.ts';

export interface DirectoryParts {
  readonly view: View;
  readonly lease: Pick<Lease, 'renewed'>;
  readonly loader: Pick<Loader, 'load' | 'now'>;
  readonly revocations: Revocations;
  readonly clock: Clock;
  readonly timing: Timing;
  readonly events: CoherenceEvents;
}

/**
 * Maximum number of loads and renewals for one request. A request that makes no progress fails at this limit. A
 * decision needs at most six facts, but a fact may change while others are being loaded, and must then be loaded
 * again.
 */
const mostRounds = 24;

/**
 * Stands in for the network of a client whose address is unknown. Networks take turns at looking up API keys, so all
 * clients with unknown addresses share the turns of one network.
 */
const anyNetwork = '';

/** Provides facts for decisions. No fact is older than the position that this replica has confirmed. */
export class CoherentDirectory implements Directory {
  readonly #parts: DirectoryParts;
  readonly #events: CoherenceEvents;
  readonly #memory: Facts;

  constructor(parts: DirectoryParts) {
    this.#parts = parts;
    this.#events = parts.events;
    this.#memory = new FactsInMemory(parts.view, parts.events);
  }

  decide<Decision>(evaluate: Evaluate<Decision>): Decision | undefined {
    if (!this.mayAct()) return undefined;
    const decision = evaluate(this.#memory);
    if (decision instanceof MissingFact) return undefined;
    this.#events.cacheHit?.();
    return decision;
  }

  factsVersion(): number {
    return this.#parts.view.version;
  }

  mayAct(): boolean {
    return this.#parts.view.mayDecide(this.#parts.clock);
  }

  mayPass(): boolean {
    return this.#parts.view.mayPass(this.#parts.clock);
  }

  lookUp(from = anyNetwork): Lookup {
    this.#events.cacheMiss?.();
    return new CoherentLookup(this.#parts, from);
  }

  onRevoked(listener: (keys: ReadonlySet<FactKey>) => number): () => void {
    return this.#parts.revocations.onRevoked(listener);
  }

  onKeysChanged(listener: (keys: ReadonlySet<FactKey>) => void): () => void {
    return this.#parts.revocations.onKeysChanged(listener);
  }

  onEnded(listener: () => void): () => void {
    return this.#parts.revocations.onEnded(listener);
  }
}

/** Waits, on behalf of one request, for the lease and for facts that are not in memory. */
class CoherentLookup implements Lookup {
  readonly #parts: DirectoryParts;
  readonly #facts: LoadedFacts;
  readonly #from: string;
  /** Logical time at which the request arrived. A fact counts as absent only if its load began later. */
  readonly #arrived: number;
  readonly #giveUpMs: number;
  #missing: MissingFact | null = null;
  #rounds = 0;

  constructor(parts: DirectoryParts, from: string) {
    const { view, loader, clock, timing, events } = parts;
    this.#parts = parts;
    this.#from = from;
    this.#facts = new LoadedFacts(view, events);
    this.#arrived = loader.now();
    this.#giveUpMs = clock.monotonicMs() + timing.lookUpMs;
  }

  decide<Decision>(evaluate: Evaluate<Decision>): Decision | undefined {
    this.#missing = null;
    const { view, clock } = this.#parts;
    if (!view.mayDecide(clock)) return undefined;
    const decision = evaluate(this.#facts);
    if (!(decision instanceof MissingFact)) return decision;
    this.#missing = decision;
    return undefined;
  }

  async load(): Promise<void> {
    const { lease, loader, view, clock } = this.#parts;
    if (++this.#rounds > mostRounds || clock.monotonicMs() >= this.#giveUpMs) throw unavailable();
    if (this.#missing === null) return lease.renewed();
    const { key } = this.#missing;
    const fact = await loader.load(this.#missing, this.#arrived, this.#from);
    this.#facts.add(key, fact);
    if (fact.incarnation !== view.incarnation) await lease.renewed();
  }
}

class FactsInMemory implements Facts {
  readonly #view: View;
  readonly #events: CoherenceEvents;
  /**
   * The last entry found. Account look-ups start from it, since a decision asks for a key, then the key's account, then
   * that account's parent.
   */
  #last: Entry | undefined;

  constructor(view: View, events: CoherenceEvents) {
    this.#view = view;
    this.#events = events;
  }

  key(digest: KeyDigest): KeyFact | null | undefined {
    const fact = this.#valueOf(this.#view.findKey(digest), 'k:', digest) as KeyFact | null | undefined;
    if (fact === null) this.#events.negativeHit?.();
    return fact;
  }

  account(id: AccountId): AccountFact | null | undefined {
    return this.#valueOf(this.#view.find(id, this.#last), 'a:', id) as AccountFact | null | undefined;
  }

  subAccountByExternalId(parent: AccountId, externalId: string): AccountId | null | undefined {
    const name = factKey.externalId(parent, externalId);
    return this.#valueOf(this.#view.find(name), '', name) as AccountId | null | undefined;
  }

  activeSubAccounts(parent: AccountId): number | null | undefined {
    const name = factKey.activeSubAccounts(parent);
    return this.#valueOf(this.#view.find(name), '', name) as number | null | undefined;
  }

  plan(plan: string): PlanFact | null | undefined {
    const name = factKey.plan(plan);
    return this.#valueOf(this.#view.find(name), '', name) as PlanFact | null | undefined;
  }

  /**
   * Returns the value of a fact that memory does not hold; `undefined` if the value is unknown.
   *
   * @param _kind start of the fact's full name; `_name` is the rest
   */
  protected elsewhere(_kind: 'k:' | 'a:' | '', _name: string): FactValue | undefined {
    return undefined;
  }

  #valueOf(entry: Entry | undefined, kind: 'k:' | 'a:' | '', name: string): FactValue | undefined {
    this.#last = entry;
    const value = entry?.value;
    return value !== undefined ? value : this.elsewhere(kind, name);
  }
}

/**
 * Facts in memory plus those loaded for one request. Loaded facts are also kept here, because memory may lack them: it
 * drops facts to make room for others, and it records no absent facts except API keys. A loaded fact's stamp is checked
 * on every use.
 */
class LoadedFacts extends FactsInMemory {
  readonly #view: View;
  readonly #loaded = new Map<FactKey, StampedFact>();

  constructor(view: View, events: CoherenceEvents) {
    super(view, events);
    this.#view = view;
  }

  add(key: FactKey, fact: StampedFact): void {
    this.#loaded.set(key, fact);
  }

  protected override elsewhere(kind: 'k:' | 'a:' | '', name: string): FactValue | undefined {
    const key = (kind + name) as FactKey;
    const loaded = this.#loaded.get(key);
    return loaded !== undefined && this.#view.admits(key, loaded) ? loaded.value : undefined;
  }
}
