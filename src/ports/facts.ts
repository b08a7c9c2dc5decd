import type { AccountId, KeyId } from '../domain/ids.ts';
import type { KeyDigest } from '../domain/api-key.ts';
import type { Limits } from '../domain/limits/limits.ts';
import type { OwnLimits } from '../domain/limits/plan.ts';

/** Facts about an API key that decisions use. */
export interface KeyFact {
  readonly keyId: KeyId;
  readonly accountId: AccountId;
  readonly scopes: readonly string[];
  /** When the key expires, in milliseconds since 1970; `null` if never. */
  readonly expiresAtMs: number | null;
  readonly revoked: boolean;
  /** The key's limits; `null` if the key has none. */
  readonly limits: Limits | null;
  /**
   * Id under which requests are counted for the limits: the id of the first key in this key's lineage. A lineage is a
   * key and all keys rotated from it, directly or indirectly.
   */
  readonly limitId: KeyId;
}

/** Facts about an account, parent or sub-account, that decisions use. */
export interface AccountFact {
  readonly id: AccountId;
  /** `null` for a parent. */
  readonly parentId: AccountId | null;
  readonly externalId: string | null;
  /** A sub-account of a deleted parent may have any status: its parent's fact says that it is deleted, too. */
  readonly status: 'active' | 'deactivated' | 'suspended' | 'deleted';
  /** `null` if the account has no limits, or a plan. */
  readonly limits: Limits | null;
  /** A parent's plan, with the parent's own limits, which go before those of the plan; `null` if it has no plan. */
  readonly plan: { readonly name: string; readonly own: OwnLimits } | null;
}

/** Facts about a plan that decisions use. */
export interface PlanFact {
  readonly limits: Limits;
}

/**
 * Name of a fact in the log, in memory and in Redis. The name of an API key contains only the key's digest:
 *
 * - `k:<digest>` → {@link KeyFact}
 * - `a:<account id>` → {@link AccountFact}
 * - `x:<parent id>:<external_id>` → {@link AccountId} of the parent's sub-account with this `external_id`
 * - `n:<parent id>` → number of active sub-accounts; may be out of date, but is 0 exactly when there are none
 * - `p:<name of a plan>` → {@link PlanFact}
 */
export type FactKey = ApiKeyName | `a:${string}` | `x:${string}:${string}` | `n:${string}` | `p:${string}`;

/** The {@link FactKey} of an API key. */
export type ApiKeyName = `k:${string}`;

/** Makes {@link FactKey}s. */
export const factKey = {
  key: (digest: KeyDigest): ApiKeyName => `k:${digest}`,
  account: (id: AccountId): FactKey => `a:${id}`,
  externalId: (parent: AccountId, externalId: string): FactKey => `x:${parent}:${externalId}`,
  activeSubAccounts: (parent: AccountId): FactKey => `n:${parent}`,
  plan: (name: string): FactKey => `p:${name}`,
} as const;

/** Any fact; its {@link FactKey} implies the type. `null` means that the fact is known not to exist. */
export type FactValue = KeyFact | AccountFact | PlanFact | AccountId | number | null;

/** Position in the coherence log: every change that affects decisions takes the next position. */
export type Seq = number;

/** Facts read in one snapshot, and the snapshot's position. There may be more facts than were asked for. */
export interface FactReading {
  readonly seq: Seq;
  /** History that `seq` belongs to: a restored or promoted database has a different history. */
  readonly incarnation: string;
  readonly facts: ReadonlyMap<FactKey, FactValue>;
}

/** Names of the facts that one read asks for. Either all of them are API keys, or none is. */
export type Asked = readonly ApiKeyName[] | readonly [FactKey, ...FactKey[]];

/**
 * The authoritative source of facts, in PostgreSQL. Every call settles by a deadline, which `storeMsFor` derives from
 * the lease duration.
 */
export interface FactSource {
  /**
   * Reads facts in one statement, along with those that a decision asks for next (a key's account, its parent, …). A
   * fact that does not exist is `null` in the reading.
   */
  readFacts(asked: Asked): Promise<FactReading>;
}
