import { metadataMaxPairs } from '../../../domain/account.ts';
import { ProblemError } from '../../../domain/problem.ts';
import { noSuch } from '../../../domain/no-such.ts';
import type { NoSuchPlan, TenantStore } from '../../../ports/tenant-store.ts';
import { pageOf } from '../page.ts';
import type { Runner } from '../connection/pool.ts';
import { listAccounts, type ListedAccount } from './account-lists.ts';
import { committed, limitReached, type Changes } from './changes.ts';
import { deleteAccount, setAccountStatus, updateAccount } from './account-changes.ts';
import { patchOf, toSubAccount } from './rows.ts';

type Lookups = Pick<TenantStore, 'getSubAccount' | 'listSubAccounts'>;
type Creations = Pick<TenantStore, 'createSubAccount' | 'putSubAccount'>;
type Updates = Pick<TenantStore, 'updateSubAccount' | 'setSubAccountStatus' | 'deleteSubAccount'>;

/** Reads, creates and changes sub-accounts, with one statement per method. */
export function subAccounts(db: Runner, changes: Changes): Lookups & Creations & Updates {
  return { ...lookups(db), ...creations(changes), ...updates(changes) };
}

/** Reads sub-accounts. */
function lookups(db: Runner): Lookups {
  return {
    async getSubAccount(parent, id) {
      const [row] = await db.run(
        (sql) => sql<ListedAccount[]>`
          select account_shown(a) as account from account a
          where id = ${id} and parent_id = ${parent} and account_is_there(id)`,
        parent,
      );
      return row ? toSubAccount(row.account) : null;
    },

    async listSubAccounts(parent, filter, page) {
      const rows = await db.run((sql) => listAccounts(sql, parent, filter, page), parent);
      return pageOf(rows, page.limit, ({ account }) => toSubAccount(account));
    },
  };
}

/** Creates sub-accounts. If there is one with the `external_id`, `putSubAccount` changes it instead. */
function creations(changes: Changes): Creations {
  return {
    async createSubAccount(parent, draft, limit, claim = null, caller) {
      const { id, name, externalId, metadata, limits } = draft;
      const made = await changes.run<'no-parent' | 'taken' | 'limit' | 'id-taken'>(
        claim,
        (sql, request) => sql`account_create_sub(
            ${request}, ${parent}, ${id}, ${name}, ${externalId}, ${sql.json(metadata)}, ${limit}
          )`,
        caller,
        { tenant: parent, limits },
      );
      switch (made.outcome) {
        case 'no-parent':
          throw new ProblemError(noSuch('account'));
        case 'taken':
          return { taken: made.holder };
        case 'id-taken':
          return { idTaken: true };
        case 'limit':
          return limitReached(made.account);
        case 'done':
        case 'again':
          return committed(made, toSubAccount(made.account));
      }
    },

    async putSubAccount(parent, externalId, { id, name, metadata, limits }, limit, caller) {
      const made = await changes.run<'no-parent' | 'limit' | 'too-many-pairs', { readonly created: boolean }>(
        null,
        (sql, request) => sql`account_put_sub(
            ${request}, ${parent}, ${externalId}, ${id}, ${name}, ${sql.json(metadata)}, ${limit}, ${metadataMaxPairs}
          )`,
        caller,
        { tenant: parent, limits },
      );
      switch (made.outcome) {
        case 'no-parent':
          return null;
        case 'limit':
          return limitReached(made.account);
        case 'too-many-pairs':
          return made.outcome;
        case 'done':
        case 'again':
          return { ...committed(made, toSubAccount(made.account)), created: made.created };
      }
    },
  };
}

/** Changes an existing sub-account. */
function updates(changes: Changes): Updates {
  return {
    async updateSubAccount(parent, id, change, caller) {
      const made = await updateAccount(changes, parent, id, patchOf(change), caller, toSubAccount);
      // Only parents have plans.
      return made as Exclude<typeof made, NoSuchPlan>;
    },

    setSubAccountStatus: (parent, id, status, claim = null, caller) =>
      setAccountStatus(changes, parent, id, status, claim, caller, toSubAccount),

    deleteSubAccount: (parent, id, caller) => deleteAccount(changes, parent, id, caller),
  };
}
