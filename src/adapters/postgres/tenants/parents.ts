import type { TenantStore } from '../../../ports/tenant-store.ts';
import type { Hints } from '../coherence/hints.ts';
import { pageOf } from '../page.ts';
import type { Runner } from '../connection/pool.ts';
import { accountColumns, toParent, type AccountRow } from './rows.ts';

type Parents = Pick<TenantStore, 'createParent' | 'getParent' | 'listParents' | 'setParentStatus'>;

/** What `account_set_parent_status` answers. */
interface StatusSet {
  readonly outcome: 'done' | 'none';
  readonly seq: number;
  readonly account: AccountRow;
}

/** Parent accounts, as the operator sees them. */
export function parents(db: Runner, hints: Hints): Parents {
  return {
    async createParent({ id, name }) {
      const rows = await db.run(
        (sql) => sql<[AccountRow]>`
          insert into account (id, name, status, sub_accounts, active_sub_accounts) values (${id}, ${name}, 'active', 0, 0)
          returning ${sql(accountColumns)}`,
      );
      return toParent(rows[0]);
    },

    async getParent(id) {
      const [row] = await db.run(
        (sql) => sql<AccountRow[]>`
          select ${sql(accountColumns)} from account where id = ${id} and parent_id is null`,
      );
      return row ? toParent(row) : null;
    },

    async listParents({ limit, after }) {
      const rows = await db.run(
        (sql) => sql<AccountRow[]>`
          select ${sql(accountColumns)} from account
          where parent_id is null ${after === undefined ? sql`` : sql`and id < ${after}`}
          order by id desc limit ${limit + 1}`,
      );
      return pageOf(rows, limit, toParent);
    },

    async setParentStatus(id, status) {
      const [set] = await db.run(
        (sql) => sql<[StatusSet]>`select * from account_set_parent_status(${id}, ${status})`,
      );
      if (set.outcome === 'none') return null;
      hints.nudge();
      return { value: toParent(set.account), seq: set.seq };
    },
  };
}
