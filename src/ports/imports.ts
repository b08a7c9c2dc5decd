import type { AccountId } from '../domain/ids.ts';
import type { KeyToImport } from './api-keys.ts';
import type { IdempotencyClaim, Operator } from './changes.ts';
import type { Committed } from './tenant-store.ts';

/** A parent as an import says it is to be, known by its `external_id`. */
export interface ParentToImport {
  /** Its id, if it is to be created. */
  readonly id: AccountId;
  /** The operator has chosen the id: one that is there must have it. */
  readonly idGiven?: true;
  readonly externalId: string;
  readonly name: string;
  /** Merged into what it has; `null` removes a pair. */
  readonly metadata: Readonly<Record<string, string | null>>;
}

/** The parent that a row belongs to, by its id or by its `external_id`. */
export type OfParent =
  { readonly parent: AccountId } | { readonly parent?: undefined; readonly parentExternalId: string };

/** A sub-account, likewise. */
export type SubAccountToImport = ParentToImport & OfParent;

/** A key of a parent, or of the sub-account of it that is named. */
export type KeyRowToImport = Omit<KeyToImport, 'owner'> &
  OfParent & { readonly subExternalId: string | null };

/** Why a row is left out. */
export type LeftOut =
  /** The parent that it names is not there, or not yet. */
  | 'no-account'
  | 'no-sub-account'
  /** The `external_id` belongs to an account with another id than the row says. */
  | 'external-id-taken'
  | 'id-taken'
  | 'too-many-pairs'
  | 'limit'
  | 'key-taken';

/** What has become of a row, or would. */
export interface ImportedRow {
  readonly outcome: 'created' | 'updated' | 'unchanged' | LeftOut;
  /** Of the account or key, where it is known. */
  readonly id?: string | null;
}

/** How rows are imported. */
export interface ImportOptions {
  /** Nothing is done, and the results say what would be. */
  readonly isPlan?: boolean;
  readonly claim?: IdempotencyClaim | null;
  /** Who asks; each row that is created or changed leaves an event that says so. */
  readonly caller?: Operator;
}

/**
 * Many parents, sub-accounts or keys in one call, each created, changed, left as it is or left out. A call takes one position
 * at most. No two rows of a call may be about the same thing.
 */
export interface Imports {
  importParents(
    rows: readonly ParentToImport[],
    options?: ImportOptions,
  ): Promise<Committed<readonly ImportedRow[]>>;
  /** @param limit most sub-accounts a parent may have, where it has no limit of its own */
  importSubAccounts(
    rows: readonly SubAccountToImport[],
    limit: number,
    options?: ImportOptions,
  ): Promise<Committed<readonly ImportedRow[]>>;
  /**
   * A key that its owner has already is left as it is. The keys are in use before they are imported, so a 2xx waits.
   *
   * @param limit most keys an account may have, where its parent has no limit of its own
   */
  importKeyRows(
    rows: readonly KeyRowToImport[],
    limit: number,
    options?: ImportOptions,
  ): Promise<Committed<readonly ImportedRow[]>>;
}
