/** A directory over maps, for tests of the gateway alone: facts are there, absent, or late, as the test likes. */
import {
  type FactKey,
  type FactValue,
  factKey,
  type AccountFact,
  type KeyFact,
} from '../../src/ports/facts.ts';
import {
  MissingFact,
  type Directory,
  type Evaluate,
  type Facts,
  type Lookup,
} from '../../src/ports/directory.ts';
import type { AccountId, KeyId } from '../../src/domain/ids.ts';
import { noLimits, type Limits } from '../../src/domain/limits/limits.ts';
import { digestSecret, formatSecret, secretRandomBytes } from '../../src/domain/api-key.ts';
import { randomBytes, randomUUID } from 'node:crypto';

/** Counts how often it was changed. */
class VersionedFacts extends Map<FactKey, FactValue> {
  version = 0;

  override set(key: FactKey, value: FactValue): this {
    this.version = (this.version ?? 0) + 1;
    return super.set(key, value);
  }

  override delete(key: FactKey): boolean {
    this.version += 1;
    return super.delete(key);
  }
}

export class MemoryDirectory implements Directory {
  readonly facts = new VersionedFacts();
  /** Facts that must be loaded first; a load ends when the test calls {@link deliver}. */
  readonly late = new Set<FactKey>();
  /** Set to have every decision fail with it. */
  failure: Error | undefined = undefined;
  /** Decisions made so far, repeated ones included. */
  decisions = 0;
  /** The network in whose turn each look-up was begun. */
  readonly lookedUpFor: (string | undefined)[] = [];
  readonly #waiting: (() => void)[] = [];
  readonly #revoked = new Set<(keys: ReadonlySet<FactKey>) => number>();
  readonly #changed = new Set<(keys: ReadonlySet<FactKey>) => void>();
  readonly #ended = new Set<() => void>();
  /** Whether bytes may pass for requests that were admitted. */
  passes = true;

  decide<Decision>(evaluate: Evaluate<Decision>): Decision | undefined {
    if (this.failure !== undefined) return undefined;
    const decision = evaluate(this.#view);
    this.decisions += 1;
    return decision instanceof MissingFact ? undefined : decision;
  }

  factsVersion(): number {
    return this.facts.version;
  }

  mayAct(): boolean {
    return this.failure === undefined;
  }

  mayPass(): boolean {
    return this.passes;
  }

  lookUp(from?: string): Lookup {
    this.lookedUpFor.push(from);
    return {
      decide: (evaluate) => this.decide(evaluate),
      load: async () => {
        if (this.failure !== undefined) throw this.failure;
        await new Promise<void>((resolve) => this.#waiting.push(resolve));
      },
    };
  }

  /** Number of decisions that wait for a late fact. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Ends all loads. */
  deliver(): void {
    this.late.clear();
    for (const again of this.#waiting.splice(0)) again();
  }

  onRevoked(listener: (keys: ReadonlySet<FactKey>) => number): () => void {
    this.#revoked.add(listener);
    return () => void this.#revoked.delete(listener);
  }

  onKeysChanged(listener: (keys: ReadonlySet<FactKey>) => void): () => void {
    this.#changed.add(listener);
    return () => void this.#changed.delete(listener);
  }

  onEnded(listener: () => void): () => void {
    this.#ended.add(listener);
    return () => void this.#ended.delete(listener);
  }

  /** Changes facts for the worse, as a mutation elsewhere would. Returns how many exchanges were ended. */
  revoke(...changes: readonly (readonly [FactKey, FactValue])[]): number {
    for (const [key, value] of changes) this.facts.set(key, value);
    let ended = 0;
    const keys = new Set(changes.map(([key]) => key));
    for (const listener of this.#revoked) ended += listener(keys);
    return ended;
  }

  /** Lets a key expire at another time, as a mutation elsewhere would. */
  reschedule({ keyKey }: Holder, expiresAtMs: number | null): void {
    this.facts.set(keyKey, { ...(this.facts.get(keyKey) as KeyFact), expiresAtMs });
    for (const listener of this.#changed) listener(new Set([keyKey]));
  }

  forget(): void {
    for (const listener of this.#ended) listener();
  }

  /** A parent account with a key. */
  addParent(scopes: readonly string[] = []): Holder {
    return this.#add(null, null, scopes);
  }

  /** A sub-account with a key. */
  addSubAccount(parent: Holder, externalId: string | null = null, scopes: readonly string[] = []): Holder {
    const holder = this.#add(parent.id, externalId, scopes);
    const count = factKey.activeSubAccounts(parent.id);
    this.facts.set(count, ((this.facts.get(count) as number | undefined) ?? 0) + 1);
    if (externalId !== null) this.facts.set(factKey.externalId(parent.id, externalId), holder.id);
    return holder;
  }

  /** Makes a key of any format stand for the same account as the holder's own. */
  addKey({ keyKey }: Holder, text: string): void {
    this.facts.set(factKey.key(digestSecret(text)), this.facts.get(keyKey) ?? null);
  }

  /** Gives an account another `external_id`. */
  rename({ accountKey }: Holder, externalId: string | null): void {
    this.facts.set(accountKey, { ...(this.facts.get(accountKey) as AccountFact), externalId });
  }

  /** Limits an account. */
  limitAccount({ accountKey }: Holder, limits: Partial<Limits> | null): void {
    const account = this.facts.get(accountKey) as AccountFact;
    this.facts.set(accountKey, { ...account, limits: limits && { ...noLimits, ...limits } });
  }

  /** Limits a key. */
  limitKey({ keyKey }: Holder, limits: Partial<Limits> | null): void {
    const key = this.facts.get(keyKey) as KeyFact;
    this.facts.set(keyKey, { ...key, limits: limits && { ...noLimits, ...limits } });
  }

  #add(parentId: AccountId | null, externalId: string | null, scopes: readonly string[]): Holder {
    const id = randomUUID() as AccountId;
    const keyId = randomUUID() as KeyId;
    const key = formatSecret('tgw', randomBytes(secretRandomBytes));
    const digest = digestSecret(key);
    const account: AccountFact = { id, parentId, externalId, status: 'active', limits: null, plan: null };
    const keyFact: KeyFact = {
      ...{ keyId, accountId: id, scopes, expiresAtMs: null, revoked: false, limits: null },
      limitId: keyId,
    };
    this.facts.set(factKey.account(id), account);
    this.facts.set(factKey.key(digest), keyFact);
    this.facts.set(factKey.activeSubAccounts(id), 0);
    return {
      id,
      keyId,
      key,
      revoked: [factKey.key(digest), { ...keyFact, revoked: true }],
      deactivated: [factKey.account(id), { ...account, status: 'deactivated' }],
      accountKey: factKey.account(id),
      keyKey: factKey.key(digest),
    };
  }

  readonly #view: Facts = {
    key: (digest) => this.#find(factKey.key(digest)),
    account: (id) => this.#find(factKey.account(id)),
    subAccountByExternalId: (parent, externalId) => this.#find(factKey.externalId(parent, externalId)),
    activeSubAccounts: (parent) => this.#find(factKey.activeSubAccounts(parent)),
    plan: (name) => this.#find(factKey.plan(name)),
  };

  #find<F extends FactValue>(key: FactKey): F | null | undefined {
    if (this.late.has(key)) return undefined;
    return (this.facts.get(key) ?? null) as F | null;
  }
}

/** An account with its API key. */
export interface Holder {
  readonly id: AccountId;
  readonly keyId: KeyId;
  readonly key: string;
  readonly keyKey: FactKey;
  readonly accountKey: FactKey;
  /** What {@link MemoryDirectory.revoke} takes to revoke the key, and to deactivate the account. */
  readonly revoked: readonly [FactKey, FactValue];
  readonly deactivated: readonly [FactKey, FactValue];
}
