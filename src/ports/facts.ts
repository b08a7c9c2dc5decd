import type { AccountId, KeyId } from '../domain/ids.ts';
import type { KeyDigest } from '../domain/api-key.ts';
import type { Limits } from '../domain/limits/limits.ts';

/** What a decision knows about an API key. */
export interface KeyFact {
  readonly keyId: KeyId;
  readonly accountId: AccountId;
  readonly scopes: readonly string[];
  /** Milliseconds since 1970, or `null`. */
  readonly expiresAtMs: number | null;
  readonly revoked: boolean;
  /** `null` where there is none, so that a request without limits costs no more than a look. */
  readonly limits: Limits | null;
  /** By which its limits are counted: its own id, or that of the first of the keys that it was rotated from. */
  readonly limitId: KeyId;
}

/** What a decision knows about an account, parent or sub-account. */
export interface AccountFact {
  readonly id: AccountId;
  /** `null` for a parent. */
  readonly parentId: AccountId | null;
  readonly externalId: string | null;
  readonly status: 'active' | 'deactivated' | 'suspended';
  /** `null` where there is none. */
  readonly limits: Limits | null;
}

/**
 * Names one fact, in the log, in memory and in Redis. Never holds an API key, only its digest:
 *
 * - `k:<digest>` → {@link KeyFact}
 * - `a:<account id>` → {@link AccountFact}
 * - `x:<parent id>:<external_id>` → {@link AccountId} of the sub-account that has it
 * - `n:<parent id>` → number of active sub-accounts, exact in whether it is 0
 */
export type FactKey = ApiKeyName | `a:${string}` | `x:${string}:${string}` | `n:${string}`;

/** The {@link FactKey} of an API key. */
export type ApiKeyName = `k:${string}`;

/** Makes {@link FactKey}s. */
export const factKey = {
  key: (digest: KeyDigest): ApiKeyName => `k:${digest}`,
  account: (id: AccountId): FactKey => `a:${id}`,
  externalId: (parent: AccountId, externalId: string): FactKey => `x:${parent}:${externalId}`,
  activeSubAccounts: (parent: AccountId): FactKey => `n:${parent}`,
} as const;

/** Any fact; which one is told by its {@link FactKey}. `null` is a known absence. */
export type FactValue = KeyFact | AccountFact | AccountId | number | null;

/** Position in the coherence log: every mutation that changes a decision takes the next one. */
export type Seq = number;

/** Facts read in one snapshot, with the position that snapshot saw. It may hold more than was asked for. */
export interface FactReading {
  readonly seq: Seq;
  /** Names the history the positions belong to: a restored or promoted database has another one. */
  readonly incarnation: string;
  readonly facts: ReadonlyMap<FactKey, FactValue>;
}

/** What can be asked for at once: API keys of any accounts; or names (`x:`) of one parent; or accounts and counts of any. */
export type Asked = readonly ApiKeyName[] | readonly [FactKey, ...FactKey[]];

/** The truth. Implemented over PostgreSQL. Calls settle in time, as those of `CoherenceLog` do. */
export interface FactSource {
  /**
   * Reads facts and what a decision will ask for next (a key's account, its parent, …), in one statement. What does not
   * exist is in the reading as `null`.
   */
  readFacts(asked: Asked): Promise<FactReading>;
}
