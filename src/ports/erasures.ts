import type { AccountId } from '../domain/ids.ts';

/** Erasure of a deleted account: of its name, metadata and external_id, of those under it, and of events about them. */
export interface Erasure {
  /** Id of the deleted account. */
  readonly accountId: AccountId;
  /** Parent of a deleted sub-account; `null` if the deleted account is a parent. */
  readonly parentId: AccountId | null;
  readonly deletedAt: Date;
  /** When everything had been erased; `null` until then. */
  readonly erasedAt: Date | null;
  /** Number of rows that have been erased so far, the deleted account's own row included. */
  readonly accounts: number;
  readonly apiKeys: number;
  readonly events: number;
  /** Results of requests with an `Idempotency-Key`. */
  readonly idempotencyRecords: number;
}

/** Size of a batch of {@link ErasureStore.run}, and which deletions it takes on. */
export interface ErasureBatch {
  /**
   * Milliseconds that must have passed since a deletion. They must exceed the time limit of statements: a change that
   * began before the deletion may write a name until then.
   */
  readonly settledMs: number;
  /** Maximum number of rows to erase or look at. */
  readonly most: number;
}

/** Addresses to erase from events. The members are those of `PrunedEvents`. */
export interface ErasedAddresses {
  readonly nowMs: number;
  readonly days: number;
  readonly most: number;
}

/**
 * Erases the personal data of deleted accounts. Usage stays under the accounts' ids. Methods throw `ProblemError`
 * `unavailable` if the store cannot be reached.
 */
export interface ErasureStore {
  /**
   * Returns the erasure of a deleted account; `null` if there is none. For a sub-account that was deleted with its
   * parent, it is the parent's.
   */
  get(id: AccountId): Promise<Erasure | null>;
  /**
   * Erases the next batch, in a transaction of its own. An interrupted erasure continues after the last batch.
   *
   * @returns the erasure that the batch belongs to; `null` if there is nothing to erase, or another replica is erasing
   */
  run(batch: ErasureBatch): Promise<Erasure | null>;
  /**
   * Erases clients' addresses from the oldest events that still have one. Does nothing while another replica does it.
   *
   * @returns number of events looked at; fewer than `most` if no more are old enough
   */
  eraseAddresses(portion: ErasedAddresses): Promise<number>;
}
