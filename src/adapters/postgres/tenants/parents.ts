import type { TenantStore } from '../../../ports/tenant-store.ts';
import { pageOf } from '../page.ts';
import type { Runner } from '../connection/pool.ts';
import { listAccounts, type ListedAccount } from './account-lists.ts';
import { committed, type Changes } from './changes.ts';
import { deleteAccount, setAccountStatus, updateAccount } from './account-changes.ts';
import { parentPatchOf, toParent } from './rows.ts';

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
        (sql, request) =>
          sql`account_create_parent(${request}, ${id}, ${name}, ${externalId}, ${sql.json(metadata)})`,
        caller,
        { plan },
      );
      if (made.outcome === 'id-taken') return { idTaken: true };
      if (made.outcome === 'taken') return { taken: made.holder };
      return made.outcome === 'no-plan' ? { noPlan: true } : committed(made, toParent(made.account));
    },

    async getParent(id, tenant) {
      const [row] = await db.run(
        (sql) => sql<ListedAccount[]>`
          select account_shown(a) as account from account a
          where a.id = ${id} and a.parent_id is null and a.deleted_at is null`,
        tenant,
      );
      return row ? toParent(row.account) : null;
    },

    async listParents(filter, page) {
      const rows = await db.run((sql) => listAccounts(sql, null, filter, page));
      return pageOf(rows, page.limit, ({ account }) => toParent(account));
    },

    updateParent: (id, change, caller) =>
      updateAccount(changes, null, id, parentPatchOf(change), caller, toParent),

    setParentStatus: (id, status, claim = null, caller) =>
      setAccountStatus(changes, null, id, status, claim, caller, toParent),

    deleteParent: (id, caller) => deleteAccount(changes, null, id, caller),
  };
}
