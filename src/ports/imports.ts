import type { AccountId } from '../domain/ids.ts';
import type { KeyToImport } from './api-keys.ts';
import type { IdempotencyClaim, Operator } from './changes.ts';
import type { Committed } from './tenant-store.ts';

/** Desired state of a parent, identified by its `external_id`. */
export interface ParentToImport {
  /** Id for the parent if it is created. */
  readonly id: AccountId;
  /** Set if the operator chose the id: an existing parent with this `external_id` must then have the same id. */
  readonly idGiven?: true;
  readonly externalId: string;
  readonly name: string;
  /** Pairs to merge into existing metadata; `null` removes a pair. */
  readonly metadata: Readonly<Record<string, string | null>>;
  /** Name of the parent's plan; `null` for none. If it is absent, an existing parent keeps its plan. */
  readonly plan?: string | null;
}

/** A row's parent, identified by its id or its `external_id`. */
export type OfParent =
  { readonly parent: AccountId } | { readonly parent?: undefined; readonly parentExternalId: string };

/** Desired state of a sub-account, identified by its parent and `external_id`. */
export type SubAccountToImport = Omit<ParentToImport, 'plan'> & OfParent;

/** A key to import. It belongs to a parent or, if `subExternalId` is not `null`, to a sub-account of the parent. */
export type KeyRowToImport = Omit<KeyToImport, 'owner'> &
  OfParent & { readonly subExternalId: string | null };

/** Why a row is left out. */
export type LeftOut =
  /** The parent does not exist, or not yet. */
  | 'no-account'
  | 'no-sub-account'
  | 'no-plan'
  /** An account with a different id has the row's `external_id`. */
  | 'external-id-taken'
  | 'id-taken'
  | 'too-many-pairs'
  | 'limit'
  | 'key-taken';

/** What happened to a row, or what a plan says would happen to it. */
export interface ImportedRow {
  readonly outcome: 'created' | 'updated' | 'unchanged' | LeftOut;
  /** Id of the account or key, if known. */
  readonly id?: string | null;
  /** Whether an unchanged key has scopes that differ from its row's. An import never changes the scopes of a key. */
  readonly otherScopes?: true;
}

/** Options of an import. */
export interface ImportOptions {
  /** Whether this is only a plan: nothing is changed, and the results show what an import would do. */
  readonly isPlan?: boolean;
  readonly claim?: IdempotencyClaim | null;
  /** The operator who imports, as named in the events of created and changed rows. */
  readonly caller?: Operator;
}

/**
 * Imports many parents, sub-accounts or keys at a time. Each row is created, updated, left unchanged or left out. A
 * call takes up at most one log position. No two rows in a call may be for the same account or key.
 */
export interface Imports {
  importParents(
    rows: readonly ParentToImport[],
    options?: ImportOptions,
  ): Promise<Committed<readonly ImportedRow[]>>;
  /** @param limit maximum number of sub-accounts for a parent without a limit of its own */
  importSubAccounts(
    rows: readonly SubAccountToImport[],
    limit: number,
    options?: ImportOptions,
  ): Promise<Committed<readonly ImportedRow[]>>;
  /**
   * A key that its owner already has is left unchanged. Replicas may have recorded a key as nonexistent before the
   * import, so a 2xx waits until every replica has reached the import's position.
   *
   * @param limit maximum number of keys for an account whose parent has no limit of its own
   */
  importKeyRows(
    rows: readonly KeyRowToImport[],
    limit: number,
    options?: ImportOptions,
  ): Promise<Committed<readonly ImportedRow[]>>;
}
