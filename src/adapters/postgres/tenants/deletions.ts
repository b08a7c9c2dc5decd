import type { AccountId } from '../../../domain/ids.ts';
import type { ChangedBy } from '../../../ports/changes.ts';
import type { Deleted } from '../../../ports/tenant-store.ts';
import { committed, type Changes } from './changes.ts';

/** Deletes the sub-account `id` of `parent`, or the parent `id` if `parent` is `null`. */
export async function deleteAccount(
  changes: Changes,
  parent: AccountId | null,
  id: AccountId,
  caller: ChangedBy | undefined,
): Promise<Deleted | null> {
  const made = await changes.run<'none' | 'active' | 'gone'>(
    null,
    (sql, request) => sql`
      select c.*, coherence_history() as incarnation from account_delete(${request}, ${parent}, ${id}) c`,
    caller,
    { takesAway: true, ...(parent !== null && { tenant: parent }) },
  );
  if (made.outcome === 'none') return null;
  if (made.outcome === 'active') return 'still-active';
  return { ...committed(made, null), alreadyGone: made.outcome === 'gone' };
}
