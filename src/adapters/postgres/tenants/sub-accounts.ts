import { metadataMaxPairs } from '../../../domain/account.ts';
import type { AccountId } from '../../../domain/ids.ts';
import { ProblemError } from '../../../domain/problem.ts';
import type { TenantStore } from '../../../ports/tenant-store.ts';
import type { Hints } from '../coherence/hints.ts';
import { aboveEveryId, pageOf } from '../page.ts';
import type { Runner } from '../connection/pool.ts';
import { accountColumns, toSubAccount, type AccountRow } from './rows.ts';

type SubAccounts = Pick<
  TenantStore,
  'createSubAccount' | 'getSubAccount' | 'listSubAccounts' | 'updateSubAccount' | 'setSubAccountStatus'
>;

/** What the mutations of `0003_mutations.sql` answer; members other than `outcome` as that one says. */
interface Mutated<Outcome extends string> {
  readonly outcome: Outcome;
  readonly seq: number | null;
  readonly account: AccountRow;
  readonly holder: AccountId;
}

/** Sub-accounts of a parent. Every mutation is one round trip. */
export function subAccounts(db: Runner, hints: Hints): SubAccounts {
  return {
    async createSubAccount(parent, { id, name, externalId, metadata }, limit) {
      const [made] = await db.run(
        (sql) => sql<[Mutated<'done' | 'no-parent' | 'taken' | 'limit'>]>`
          select * from account_create_sub(${parent}, ${id}, ${name}, ${externalId}, ${sql.json(metadata)}, ${limit})`,
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
          if (made.seq !== null) hints.nudge();
          return { value: toSubAccount(made.account), seq: made.seq };
      }
    },

    async getSubAccount(parent, id) {
      const [row] = await db.run(
        (sql) => sql<AccountRow[]>`
          select ${sql(accountColumns)} from account where id = ${id} and parent_id = ${parent}`,
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
      });
      return pageOf(rows, limit, toSubAccount);
    },

    async updateSubAccount(parent, id, { name, externalId, metadata }) {
      const patch = {
        ...(name !== undefined && { name }),
        ...(externalId !== undefined && { external_id: externalId }),
        ...(metadata !== undefined && { metadata }),
      };
      const [made] = await db.run(
        (sql) => sql<[Mutated<'done' | 'none' | 'taken' | 'too-many-pairs'>]>`
          select * from account_update_sub(${parent}, ${id}, ${sql.json(patch)}, ${metadataMaxPairs})`,
      );
      switch (made.outcome) {
        case 'none':
          return null;
        case 'taken':
          return { taken: made.holder };
        case 'too-many-pairs':
          return made.outcome;
        case 'done':
          if (made.seq !== null) hints.nudge();
          return { value: toSubAccount(made.account), seq: made.seq };
      }
    },

    async setSubAccountStatus(parent, id, status) {
      const [set] = await db.run(
        (sql) =>
          sql<[Mutated<'done' | 'none'>]>`select * from account_set_sub_status(${parent}, ${id}, ${status})`,
      );
      if (set.outcome === 'none') return null;
      hints.nudge();
      return { value: toSubAccount(set.account), seq: set.seq };
    },
  };
}
