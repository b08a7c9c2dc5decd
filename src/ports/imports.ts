import type { AccountId } from '../domain/ids.ts';
import type { KeyToImport } from './api-keys.ts';
import type { IdempotencyClaim, Operator } from './changes.ts';
import type { Committed } from './tenant-store.ts';

/** Desired state of a parent, identified by its `external_id`. */
export interface ParentToImport {
  /** Id for the parent if it is created. */
  readonly id: AccountId;
  /** The operator has chosen the id, so an existing parent with this `external_id` must have the same id. */
  readonly idGiven?: true;
  readonly externalId: string;
  readonly name: string;
  /** Pairs to merge into existing metadata; `null` removes a pair. */
  readonly metadata: Readonly<Record<string, string | null>>;
}

/** Parent of a row, by its id or its `external_id`. */
export type OfParent =
  { readonly parent: AccountId } | { readonly parent?: undefined; readonly parentExternalId: string };

/** Desired state of a sub-account, identified by its parent and `external_id`. */
export type SubAccountToImport = ParentToImport & OfParent;

/** A key of a parent, or of its sub-account with this `external_id`. */
export type KeyRowToImport = Omit<KeyToImport, 'owner'> &
  OfParent & { readonly subExternalId: string | null };

/** Reason why a row is left out. */
export type LeftOut =
  /** The parent does not exist, or not yet. */
  | 'no-account'
  | 'no-sub-account'
  /** An account with a different id has the row's `external_id`. */
  | 'external-id-taken'
  | 'id-taken'
  | 'too-many-pairs'
  | 'limit'
  | 'key-taken';

/** Outcome of a row, or the outcome that a plan foresees for it. */
export interface ImportedRow {
  readonly outcome: 'created' | 'updated' | 'unchanged' | LeftOut;
  /** Id of the account or key, if it is known. */
  readonly id?: string | null;
}

/** Options of an import. */
export interface ImportOptions {
  /** Whether this is only a plan: nothing is changed, and the results show the outcome that an import would have. */
  readonly isPlan?: boolean;
  readonly claim?: IdempotencyClaim | null;
  /** Operator that imports; events of created and changed rows name it. */
  readonly caller?: Operator;
}

/**
 * Imports of many parents, sub-accounts or keys. Each row is created, updated, left unchanged or left out. A call takes
 * at most one position of the log. No two rows of a call may be about the same account or key.
 */
export interface Imports {
  importParents(
    rows: readonly ParentToImport[],
    options?: ImportOptions,
  ): Promise<Committed<readonly ImportedRow[]>>;
  /** @param limit maximum number of sub-accounts of a parent without a limit of its own */
  importSubAccounts(
    rows: readonly SubAccountToImport[],
    limit: number,
    options?: ImportOptions,
  ): Promise<Committed<readonly ImportedRow[]>>;
  /**
   * A key that its owner already has is left unchanged. Replicas may remember from before the import that a key does
   * not exist, so a 2xx waits until every replica has reached the position.
   *
   * @param limit maximum number of keys of an account whose parent has no limit of its own
   */
  importKeyRows(
    rows: readonly KeyRowToImport[],
    limit: number,
    options?: ImportOptions,
  ): Promise<Committed<readonly ImportedRow[]>>;
}
