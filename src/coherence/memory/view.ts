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
  /** Maximum number of facts held. */
  readonly facts: number;
  /** Maximum number of absent keys held. They are kept separately so that they cannot evict facts. */
  readonly unknownKeys: number;
}

/**
 * Result of {@link View.take}: the changes that can end or affect open exchanges, and the facts that were wrong in
 * memory.
 */
export interface Taken {
  /** Facts that were revoked: they may permit less than before. */
  readonly revoked: ReadonlySet<FactKey>;
  /** API keys whose records have changed without a revocation. */
  readonly changedKeys: ReadonlySet<FactKey>;
  /**
   * Facts whose values in memory differed from the store's, although no logged change explains the difference; see
   * {@link View.keep}.
   */
  readonly differed: ReadonlySet<FactKey>;
}

/**
 * Everything that this replica knows: the log up to a position, facts at least as new as that position, and the time
 * until which the lease allows decisions.
 */
export class View {
  readonly #recentChanges: RecentChanges;
  readonly #size: ViewSize;
  readonly #keys = new LocalCache(new DigestTable(), () => this.#makeRoom());
  readonly #others = new LocalCache(new NameTable(), () => this.#makeRoom());
  readonly #unknownKeys: UnknownKeys;
  readonly #differences = new Differences();
  #version = 0;
  /** Deadline for decisions on the monotonic clock, in milliseconds. `#wallUntil` is the deadline on the wall clock. */
  #until = -Infinity;
  #wallUntil = -Infinity;
  /** The same two deadlines for bytes; see {@link mayPass}. */
  #passUntil = -Infinity;
  #wallPassUntil = -Infinity;
  #incarnation: string | null = null;
  #applied: Seq = 0;
  /** End of the newest page that this replica has read, as a log position. */
  #through: Seq = 0;

  constructor(size: ViewSize, recentChanges: RecentChanges = new RecentChanges()) {
    this.#recentChanges = recentChanges;
    this.#size = size;
    this.#unknownKeys = new UnknownKeys(size.unknownKeys);
  }

  /**
   * Name of the log's history, as in {@link LogReading.incarnation}: only positions in the same history can be
   * compared. `null` until the log is first read.
   */
  get incarnation(): string | null {
    return this.#incarnation;
  }

  /** Number that increases whenever a fact in memory may no longer be true. */
  get version(): number {
    return this.#version;
  }

  /** Log position up to which this replica has applied every change. */
  get applied(): Seq {
    return this.#applied;
  }

  /** Log position after which the next read starts; `null` before the first read. */
  get through(): Seq | null {
    return this.#incarnation === null ? null : this.#through;
  }

  /**
   * Log position below which this replica has evicted changes, because it remembers only a limited number of them. The
   * log need not keep the evicted changes either.
   */
  get evictedBelow(): Seq {
    return this.#recentChanges.evictedBelow;
  }

  /** The number of facts that decisions may use, the number of absent keys, and the number of remembered changes. */
  get sizes(): { readonly facts: number; readonly unknownKeys: number; readonly recentChanges: number } {
    const [unknownKeys, recentChanges] = [this.#unknownKeys.size, this.#recentChanges.size];
    return { facts: this.held - this.unproven, unknownKeys, recentChanges };
  }

  /** Number of facts held, including unproven ones. */
  get held(): number {
    return this.#keys.size + this.#others.size;
  }

  /**
   * Number of facts known only by name since this replica started over. They must be read before decisions may use
   * them.
   */
  get unproven(): number {
    return this.#keys.unproven + this.#others.unproven;
  }

  /** When the oldest fact in memory was read, in seconds on the monotonic clock; `undefined` if memory is empty. */
  get oldestS(): number | undefined {
    return this.#oldestOf().oldest?.provenS;
  }

  /**
   * Returns up to `most` facts to reread, beginning with those read longest ago. The result has only API keys or only
   * other facts, because different statements read them.
   */
  oldest(most: number): FactKey[] {
    const cache = this.#oldestOf();
    const names = cache.oldestNames(most);
    return cache === this.#keys ? names.map((name): FactKey => `k:${name}`) : names.map(keyOfName);
  }

  /** Forgets which keys do not exist, so that no key counts as absent for ever. */
  forgetUnknownKeys(): void {
    this.#unknownKeys.clear();
  }

  /**
   * Sets the deadlines for decisions, in milliseconds on each of this machine's two clocks. `-Infinity` forbids
   * decisions.
   *
   * @param passMs how many milliseconds later the deadlines of {@link mayPass} are
   */
  decideUntil(monotonicMs: number, wallMs: number, passMs = 0): void {
    this.#until = monotonicMs;
    this.#wallUntil = wallMs;
    this.#passUntil = monotonicMs + passMs;
    this.#wallPassUntil = wallMs + passMs;
  }

  /**
   * Whether a decision may be made in this tick: the deadline must not have passed on either clock. The monotonic clock
   * stands still while a machine sleeps, but the wall clock does not. If someone sets the wall clock forward, the
   * replica only has to renew its lease early.
   */
  mayDecide(clock: Clock): boolean {
    return clock.monotonicMs() < this.#until && clock.wallMs() < this.#wallUntil;
  }

  /**
   * Whether bytes may pass in this tick for a key that was admitted earlier. Changes wait until this replica no longer
   * passes any, even if it cannot hear of them.
   */
  mayPass(clock: Clock): boolean {
    return clock.monotonicMs() < this.#passUntil && clock.wallMs() < this.#wallPassUntil;
  }

  /** Milliseconds until the earlier of the two deadlines of {@link mayPass}. */
  passMs(clock: Clock): number {
    return Math.min(this.#passUntil - clock.monotonicMs(), this.#wallPassUntil - clock.wallMs());
  }

  /** Milliseconds until the earlier of the two deadlines for decisions; negative afterwards. */
  remainingMs(clock: Clock): number {
    return Math.min(this.#until - clock.monotonicMs(), this.#wallUntil - clock.wallMs());
  }

  /**
   * Finds a key in memory, even one that is known not to exist. The caller need not check that the entry is still
   * valid, because every log reading drops the entries of facts that have changed.
   */
  findKey(digest: string): Entry | undefined {
    return findIn(this.#keys.table, digest) ?? (this.#unknownKeys.has(digest) ? absentKey : undefined);
  }

  /**
   * Finds a fact other than an API key, in the same way as {@link findKey}.
   *
   * @param name see {@link nameInMemory}
   * @param before the entry found just before, if this fact is usually looked up after it
   */
  find(name: string, before?: Entry): Entry | undefined {
    const { table } = this.#others;
    return before === undefined ? findIn(table, name) : findAfter(table, before, name);
  }

  /**
   * The stamp rule: whether a value, wherever it comes from, includes every change to its fact that this replica has
   * confirmed.
   */
  admits(key: FactKey, fact: StampedFact): boolean {
    return fact.incarnation === this.#incarnation && this.#recentChanges.admits(key, fact.seq);
  }

  /**
   * Puts a fact into memory if it is admitted. Memory records absent API keys, but no other absent facts. The record of
   * an absent key is safe: no client knows a new key before it exists, and an import of a known key waits for the
   * replicas. The creation of an account or `external_id` need not wait, so a record of its absence could be wrong.
   *
   * Returns whether memory had a different value. The difference is usually explained by a change that this replica has
   * yet to read from the log. If no change explains it, a later log reading reports the fact ({@link Taken.differed}).
   *
   * @param readS when the read began, in whole seconds on the monotonic clock
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
   * Applies one page of the log. Returns the changes that matter to open exchanges, or `'lost'` if the page does not
   * continue the known log. In that case nothing has been applied, and the caller must forget everything.
   *
   * A page that ends before `reading.seq` may lack a change, because a later entry has replaced it ({@link LogReading}).
   * So {@link applied} advances only with a page that reaches `reading.seq`.
   */
  take(reading: LogReading): Taken | 'lost' {
    if (this.#incarnation !== null && !this.#continues(reading)) return 'lost';
    if (reading.entries.length > 0) this.#version += 1;
    const revoked = new Set<FactKey>();
    const changedKeys = new Set<FactKey>();
    for (const { seq, key, revoked: isRevoked } of reading.entries) {
      this.#recentChanges.record(key, seq);
      const name = nameInMemory(key);
      for (const cache of key.startsWith('k:') ? [this.#keys, this.#unknownKeys] : [this.#others])
        cache.dropOlder(name, seq);
      if (isRevoked) revoked.add(key);
      else if (key.startsWith('k:')) changedKeys.add(key);
    }
    this.#recentChanges.raiseFloor(reading.floor);
    this.#incarnation = reading.incarnation;
    this.#through = reading.through;
    if (reading.through >= reading.seq) this.#applied = reading.seq;
    const differed = this.#differences.unexplained(this.#applied, this.#recentChanges);
    return { revoked, changedKeys, differed };
  }

  /** Forgets everything except the names of facts, and forbids decisions. */
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

  /**
   * Returns the cache to reread next. A cache with unproven facts comes first. If neither cache has any, the cache with
   * the oldest fact is next.
   */
  #oldestOf(): LocalCache {
    const [keys, others] = [this.#keys, this.#others];
    if (keys.unproven > 0 || others.unproven > 0) return keys.unproven > 0 ? keys : others;
    return (keys.oldest?.provenS ?? Infinity) <= (others.oldest?.provenS ?? Infinity) ? keys : others;
  }

  /**
   * Makes room for an entry if memory is full. Evicts from the larger cache, so that a flood of API keys cannot evict
   * all other facts, or vice versa.
   */
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

/** Entry that stands for every key that does not exist. */
const absentKey: Entry = Object.assign(makeEntry(''), { value: null, recent: true });
