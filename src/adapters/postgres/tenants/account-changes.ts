import { metadataMaxPairs } from '../../../domain/account.ts';
import type { AccountId } from '../../../domain/ids.ts';
import type { ChangedBy, IdempotencyClaim } from '../../../ports/changes.ts';
import type { Committed, Deleted, ExternalIdTaken, NoSuchPlan } from '../../../ports/tenant-store.ts';
import { committed, type Changes } from './changes.ts';
import type { AccountRow } from './rows.ts';

/**
 * Changes the sub-account `id` of `parent`, or the parent `id` if `parent` is `null`.
 *
 * @param patch columns to change, as `account_update` reads them
 */
export async function updateAccount<T>(
  changes: Changes,
  parent: AccountId | null,
  id: AccountId,
  patch: Readonly<Record<string, unknown>>,
  caller: ChangedBy | undefined,
  toAccount: (row: AccountRow) => T,
): Promise<Committed<T> | ExternalIdTaken | NoSuchPlan | 'too-many-pairs' | null> {
  const made = await changes.run<'none' | 'taken' | 'too-many-pairs' | 'no-plan'>(
    null,
    (sql, request) =>
      sql`account_update(${request}, ${parent}, ${id}, ${sql.json(patch as never)}, ${metadataMaxPairs})`,
    caller,
    { tenant: parent ?? undefined },
  );
  if (made.outcome === 'none') return null;
  if (made.outcome === 'taken') return { taken: made.holder };
  if (made.outcome === 'no-plan') return { noPlan: true };
  return made.outcome === 'too-many-pairs' ? made.outcome : committed(made, toAccount(made.account));
}

/** Sets the status of the sub-account `id` of `parent`, or of the parent `id` if `parent` is `null`. */
export async function setAccountStatus<T>(
  changes: Changes,
  parent: AccountId | null,
  id: AccountId,
  status: AccountRow['status'],
  claim: IdempotencyClaim | null,
  caller: ChangedBy | undefined,
  toAccount: (row: AccountRow) => T,
): Promise<Committed<T> | null> {
  const set = await changes.run<'none'>(
    claim,
    (sql, request) => sql`account_set_status(${request}, ${parent}, ${id}, ${status})`,
    caller,
    { tenant: parent ?? undefined, takesAway: status === 'deactivated' },
  );
  return set.outcome === 'none' ? null : committed(set, toAccount(set.account));
}

/** Deletes the sub-account `id` of `parent`, or the parent `id` if `parent` is `null`. */
export async function deleteAccount(
  changes: Changes,
  parent: AccountId | null,
  id: AccountId,
  caller: ChangedBy | undefined,
): Promise<Deleted | null> {
  const made = await changes.run<'none' | 'active' | 'gone'>(
    null,
    (sql, request) => sql`account_delete(${request}, ${parent}, ${id})`,
    caller,
    { takesAway: true, tenant: parent ?? undefined },
  );
  if (made.outcome === 'none') return null;
  if (made.outcome === 'active') return 'still-active';
  return { ...committed(made, null), alreadyGone: made.outcome === 'gone' };
}
