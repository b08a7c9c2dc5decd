import type { Clock } from '../../ports/clock.ts';
import type { StampedFact } from '../../ports/fact-cache.ts';
import type { FactKey, Seq } from '../../ports/facts.ts';
import type { LogReading } from '../../ports/coherence-log.ts';
import { Differences, differ } from './differences.ts';
import { keyOfName, nameInMemory } from './fact-names.ts';
import { LocalCache } from './local-cache.ts';
import { RecentChanges } from './recent-changes.ts';
import { DigestTable, findAfter, findIn, makeEntry, NameTable, type Entry } from './tables.ts';
import { UnknownKeys } from './unknown-keys.ts';

export interface ViewSize {
  /** Facts held at most. */
  readonly facts: number;
  /** Digests of keys that do not exist, held at most; apart from the facts, so that they cannot push those out. */
  readonly unknownKeys: number;
}

/** What of a reading of the log open exchanges must hear of. */
export interface Taken {
  /** Facts that no longer permit what they did. */
  readonly revoked: ReadonlySet<FactKey>;
  /** API keys whose records have changed in another way. */
  readonly changedKeys: ReadonlySet<FactKey>;
  /** Ids of accounts of which anything has changed. */
  readonly changedAccounts: ReadonlySet<string>;
  /** Facts that memory had another value of than the store, though the log tells of no change: see {@link View.keep}. */
  readonly differed: ReadonlySet<FactKey>;
}

/**
 * What this replica knows: the log up to a position, and facts that are no older; and until when it may decide by them,
 * which its lease says.
 */
export class View {
  readonly #recentChanges: RecentChanges;
  readonly #size: ViewSize;
  readonly #keys = new LocalCache(new DigestTable(), () => this.#makeRoom());
  readonly #others = new LocalCache(new NameTable(), () => this.#makeRoom());
  readonly #unknownKeys: UnknownKeys;
  readonly #differences = new Differences();
  #version = 0;
  /** Until when it may decide, by both clocks of this machine; see {@link mayDecide}. */
  #until = -Infinity;
  #wallUntil = -Infinity;
  #incarnation: string | null = null;
  #applied: Seq = 0;
  /** Between two pages of the log: the end of the first. */
  #through: Seq = 0;

  constructor(size: ViewSize, recentChanges: RecentChanges = new RecentChanges()) {
    this.#recentChanges = recentChanges;
    this.#size = size;
    this.#unknownKeys = new UnknownKeys(size.unknownKeys);
  }

  /** The history that positions belong to; `null` before the log was first read. */
  get incarnation(): string | null {
    return this.#incarnation;
  }

  /** Another number whenever something that was known may not hold any more. */
  get version(): number {
    return this.#version;
  }

  /** Position up to which every change was taken in. */
  get applied(): Seq {
    return this.#applied;
  }

  /** Where the next reading of the log begins; `null` where nothing is known. */
  get through(): Seq | null {
    return this.#incarnation === null ? null : this.#through;
  }

  /** Changes before this position need not be kept: this replica has forgotten them, since there were too many. */
  get evictedBelow(): Seq {
    return this.#recentChanges.evictedBelow;
  }

  /** `facts` are those that may decide. */
  get sizes(): { readonly facts: number; readonly unknownKeys: number; readonly recentChanges: number } {
    const [unknownKeys, recentChanges] = [this.#unknownKeys.size, this.#recentChanges.size];
    return { facts: this.held - this.unproven, unknownKeys, recentChanges };
  }

  /** Facts held, unproven ones among them. */
  get held(): number {
    return this.#keys.size + this.#others.size;
  }

  /** Facts of which only the name is known, since this replica has begun anew: they decide nothing before they are read. */
  get unproven(): number {
    return this.#keys.unproven + this.#others.unproven;
  }

  /** When the fact was read that was read longest ago; whole seconds, monotonic. `undefined` where none is held. */
  get oldestS(): number | undefined {
    return this.#oldestOf().oldest?.provenS;
  }

  /** Facts to read again: up to `most`, those that were read longest ago, all of them API keys or none. */
  oldest(most: number): FactKey[] {
    const cache = this.#oldestOf();
    const names = cache.oldestNames(most);
    return cache === this.#keys ? names.map((name): FactKey => `k:${name}`) : names.map(keyOfName);
  }

  /** Forgets which keys do not exist, so that none is unknown for ever. */
  forgetUnknownKeys(): void {
    this.#unknownKeys.clear();
  }

  /** Allows decisions up to these moments, or to none any more. Milliseconds, by the two clocks of this machine. */
  decideUntil(monotonicMs: number, wallMs: number): void {
    this.#until = monotonicMs;
    this.#wallUntil = wallMs;
  }

  /**
   * Whether a decision may be made in this tick. The time ends when either clock says so: the monotonic one stands
   * still while a machine sleeps, and the wall clock shows that afterwards; set forward, it costs one renewal.
   */
  mayDecide(clock: Clock): boolean {
    return clock.monotonicMs() < this.#until && clock.wallMs() < this.#wallUntil;
  }

  /** Milliseconds left to decide in; negative once there are none. */
  remainingMs(clock: Clock): number {
    return Math.min(this.#until - clock.monotonicMs(), this.#wallUntil - clock.wallMs());
  }

  /** A key in memory, also one that does not exist. It has survived every reading of the log: no check is needed in that tick. */
  findKey(digest: string): Entry | undefined {
    return findIn(this.#keys.table, digest) ?? (this.#unknownKeys.has(digest) ? absentKey : undefined);
  }

  /**
   * Any other fact, likewise.
   *
   * @param name see {@link nameInMemory}
   * @param before what was found just before, where this is what is mostly asked for after it
   */
  find(name: string, before?: Entry): Entry | undefined {
    const { table } = this.#others;
    return before === undefined ? findIn(table, name) : findAfter(table, before, name);
  }

  /** The stamp rule: whether a value from anywhere is as new as everything this replica has confirmed. */
  admits(key: FactKey, fact: StampedFact): boolean {
    return fact.incarnation === this.#incarnation && this.#recentChanges.admits(key, fact.seq);
  }

  /**
   * Puts a fact into memory, if it is admitted. Absence is kept for keys alone: a client cannot ask for a key before
   * it was made, whereas an account or an `external_id` may appear at any time, without waiting for replicas.
   *
   * Returns whether memory had another value. Mostly a change explains that which is still to be read from the log. If none
   * does, the reading of the log after it says so ({@link Taken.differed}).
   *
   * @param readS when the reading began; whole seconds, monotonic
   */
  keep(key: FactKey, fact: StampedFact, readS: number): boolean {
    if (!this.admits(key, fact)) return false;
    const { value, seq } = fact;
    const name = nameInMemory(key);
    const cache = key.startsWith('k:') ? this.#keys : this.#others;
    const present = cache.table.get(name);
    const differs = present !== undefined && present.seq <= seq && differ(key, present.value, value);
    if (differs) {
      this.#differences.note(key, seq, this.#through);
      this.#version += 1;
    }
    if (value !== null) cache.put(name, value, seq, readS);
    else {
      cache.dropAbsent(name, seq);
      if (cache === this.#keys) this.#unknownKeys.add(name, seq);
    }
    return differs;
  }

  /**
   * Takes in a reading of the log. Returns what is in it that open exchanges must hear of, or `'lost'` where the reading does not continue
   * what is known: then nothing was taken in, and everything must be forgotten.
   *
   * After a page that does not go up to its own position, {@link applied} stays: such a page may lack changes that later
   * ones have replaced.
   */
  take(reading: LogReading): Taken | 'lost' {
    if (this.#incarnation !== null && !this.#continues(reading)) return 'lost';
    if (reading.entries.length > 0) this.#version += 1;
    const revoked = new Set<FactKey>();
    const changedKeys = new Set<FactKey>();
    const changedAccounts = new Set<string>();
    for (const { seq, key, revoked: isRevoked } of reading.entries) {
      this.#recentChanges.record(key, seq);
      const name = nameInMemory(key);
      for (const cache of key.startsWith('k:') ? [this.#keys, this.#unknownKeys] : [this.#others])
        cache.dropOlder(name, seq);
      if (isRevoked) revoked.add(key);
      else if (key.startsWith('k:')) changedKeys.add(key);
      if (key.startsWith('a:')) changedAccounts.add(name);
    }
    this.#recentChanges.raiseFloor(reading.floor);
    this.#incarnation = reading.incarnation;
    this.#through = reading.through;
    if (reading.through >= reading.seq) this.#applied = reading.seq;
    const differed = this.#differences.unexplained(this.#applied, this.#recentChanges);
    return { revoked, changedKeys, changedAccounts, differed };
  }

  /** Nothing is known any more but the names of facts, and nothing may be decided. */
  forget(): void {
    this.decideUntil(-Infinity, -Infinity);
    this.#version += 1;
    this.#recentChanges.clear();
    this.#keys.unprove();
    this.#others.unprove();
    this.#unknownKeys.clear();
    this.#differences.clear();
    this.#incarnation = null;
    this.#applied = 0;
    this.#through = 0;
  }

  /** The table with the fact that was read longest ago, or with unproven ones. */
  #oldestOf(): LocalCache {
    const [keys, others] = [this.#keys, this.#others];
    if (keys.unproven > 0 || others.unproven > 0) return keys.unproven > 0 ? keys : others;
    return (keys.oldest?.provenS ?? Infinity) <= (others.oldest?.provenS ?? Infinity) ? keys : others;
  }

  /** From where there is more, so that neither keys nor anything else can push out all of the other. */
  #makeRoom(): void {
    if (this.held < this.#size.facts) return;
    const fuller = this.#keys.size > this.#others.size ? this.#keys : this.#others;
    fuller.dropOne();
  }

  #continues(reading: LogReading): boolean {
    return (
      reading.incarnation === this.#incarnation &&
      reading.seq >= this.#through &&
      reading.floor <= this.#through + 1
    );
  }
}

/** What is held of a key that does not exist. */
const absentKey: Entry = Object.assign(makeEntry(''), { value: null, recent: true });
