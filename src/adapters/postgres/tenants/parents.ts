import type { AccountId } from '../../../domain/ids.ts';
import { metadataMaxPairs } from '../../../domain/account.ts';
import type { ExternalIdTaken, NoSuchPlan, TenantStore } from '../../../ports/tenant-store.ts';
import { pageOf } from '../page.ts';
import type { Runner } from '../connection/pool.ts';
import { accountSelection, listAccounts } from './account-lists.ts';
import { committed, type Changes } from './changes.ts';
import { deleteAccount } from './deletions.ts';
import { parentPatchOf, toParent, type AccountRow } from './rows.ts';

type Parents = Pick<
  TenantStore,
  'createParent' | 'getParent' | 'listParents' | 'updateParent' | 'setParentStatus' | 'deleteParent'
>;

/** Parent accounts, as the operator sees them. */
export function parents(db: Runner, changes: Changes): Parents {
  return {
    async createParent({ id, name, externalId = null, metadata = {}, plan = null }, claim = null, caller) {
      const made = await changes.run<'taken' | 'id-taken' | 'no-plan'>(
        claim,
        (sql, request) => sql`
          select c.*, coherence_history() as incarnation
          from account_create_parent(${request}, ${id}, ${name}, ${externalId}, ${sql.json(metadata)}) c`,
        caller,
        { plan },
      );
      if (made.outcome === 'id-taken') return { idTaken: true };
      return faultOf(made) ?? committed(made, toParent(made.account));
    },

    async getParent(id, tenant) {
      const [row] = await db.run(
        (sql) => sql<AccountRow[]>`
          select ${accountSelection(sql)} from account a
          where a.id = ${id} and a.parent_id is null and a.deleted_at is null`,
        tenant,
      );
      return row ? toParent(row) : null;
    },

    async listParents(filter, page) {
      return pageOf(await db.run((sql) => listAccounts(sql, null, filter, page)), page.limit, toParent);
    },

    async updateParent(id, change, caller) {
      const made = await changes.run<'none' | 'taken' | 'too-many-pairs' | 'no-plan'>(
        null,
        (sql, request) => sql`
          select c.*, coherence_history() as incarnation
          from account_update_parent(${request}, ${id}, ${sql.json(parentPatchOf(change))}, ${metadataMaxPairs}) c`,
        caller,
      );
      if (made.outcome === 'none') return null;
      if (made.outcome === 'too-many-pairs') return made.outcome;
      return faultOf(made) ?? committed(made, toParent(made.account));
    },

    async setParentStatus(id, status, claim = null, caller) {
      const set = await changes.run<'none'>(
        claim,
        (sql, request) => sql`
          select c.*, coherence_history() as incarnation
          from account_set_parent_status(${request}, ${id}, ${status}) c`,
        caller,
      );
      return set.outcome === 'none' ? null : committed(set, toParent(set.account));
    },

    async deleteParent(id, caller) {
      return deleteAccount(changes, null, id, caller);
    },
  };
}

/** Returns why a parent was not created or changed; `null` if that depends on something else. */
function faultOf({
  outcome,
  holder,
}: {
  readonly outcome: string;
  readonly holder: AccountId;
}): ExternalIdTaken | NoSuchPlan | null {
  if (outcome === 'taken') return { taken: holder };
  return outcome === 'no-plan' ? { noPlan: true } : null;
}
