import { metadataMaxPairs } from '../../../domain/account.ts';
import { ProblemError } from '../../../domain/problem.ts';
import type { TenantStore } from '../../../ports/tenant-store.ts';
import { aboveEveryId, pageOf } from '../page.ts';
import type { Runner } from '../connection/pool.ts';
import { committed, type Changes } from './changes.ts';
import { accountColumns, toSubAccount, type AccountRow } from './rows.ts';

type SubAccounts = Pick<
  TenantStore,
  'createSubAccount' | 'getSubAccount' | 'listSubAccounts' | 'updateSubAccount' | 'setSubAccountStatus'
>;

/** Sub-accounts of a parent: a list of statements, one a method. */
export function subAccounts(db: Runner, changes: Changes): SubAccounts {
  return {
    async createSubAccount(parent, { id, name, externalId, metadata }, limit, claim = null) {
      const made = await changes.run<'no-parent' | 'taken' | 'limit'>(
        claim,
        (sql, request) => sql`
          select c.*, coherence_history() as incarnation from account_create_sub(
            ${request}, ${parent}, ${id}, ${name}, ${externalId}, ${sql.json(metadata)}, ${limit}
          ) c`,
        parent,
      );
      switch (made.outcome) {
        case 'no-parent':
          // The caller's own account: gone only if a backup without it was brought back.
          throw new ProblemError({ code: 'not_found', detail: 'There is no such account.' });
        case 'taken':
          return { taken: made.holder };
        case 'limit':
          return { limit };
        case 'done':
        case 'again':
          return committed(made, toSubAccount(made.account));
      }
    },

    async getSubAccount(parent, id) {
      const [row] = await db.run(
        (sql) => sql<AccountRow[]>`
          select ${sql(accountColumns)} from account where id = ${id} and parent_id = ${parent}`,
        parent,
      );
      return row ? toSubAccount(row) : null;
    },

    async listSubAccounts(parent, { status, externalId }, { limit, after = aboveEveryId }) {
      const rows = await db.run((sql) => {
        const columns = sql(accountColumns);
        if (externalId !== undefined) {
          return sql<AccountRow[]>`
            select ${columns} from account
            where parent_id = ${parent} and external_id = ${externalId} and id < ${after}
              ${status === undefined ? sql`` : sql`and status = ${status}`}`;
        }
        // Ranges of an index, see `page.ts`.
        if (status !== undefined) {
          return sql<AccountRow[]>`
            select ${columns} from account
            where parent_id >= ${parent} and (parent_id, status) >= (${parent}, ${status})
              and (parent_id, status, id) < (${parent}, ${status}, ${after})
            order by parent_id desc, status desc, id desc limit ${limit + 1}`;
        }
        return sql<AccountRow[]>`
          select ${columns} from account
          where parent_id >= ${parent} and (parent_id, id) < (${parent}, ${after})
          order by parent_id desc, id desc limit ${limit + 1}`;
      }, parent);
      return pageOf(rows, limit, toSubAccount);
    },

    async updateSubAccount(parent, id, { name, externalId, metadata }) {
      const patch = {
        ...(name !== undefined && { name }),
        ...(externalId !== undefined && { external_id: externalId }),
        ...(metadata !== undefined && { metadata }),
      };
      const made = await changes.run<'none' | 'taken' | 'too-many-pairs'>(
        null,
        (sql, request) => sql`
          select c.*, coherence_history() as incarnation
          from account_update_sub(${request}, ${parent}, ${id}, ${sql.json(patch)}, ${metadataMaxPairs}) c`,
        parent,
      );
      switch (made.outcome) {
        case 'none':
          return null;
        case 'taken':
          return { taken: made.holder };
        case 'too-many-pairs':
          return made.outcome;
        case 'done':
        case 'again':
          return committed(made, toSubAccount(made.account));
      }
    },

    async setSubAccountStatus(parent, id, status, claim = null) {
      const set = await changes.run<'none'>(
        claim,
        (sql, request) => sql`
          select c.*, coherence_history() as incarnation
          from account_set_sub_status(${request}, ${parent}, ${id}, ${status}) c`,
        parent,
      );
      return set.outcome === 'none' ? null : committed(set, toSubAccount(set.account));
    },
  };
}
