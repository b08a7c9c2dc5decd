import type { TenantStore } from '../../../ports/tenant-store.ts';
import { pageOf } from '../page.ts';
import type { Runner } from '../connection/pool.ts';
import { committed, replayOf, type Changes } from './changes.ts';
import { accountColumns, toParent, type AccountRow } from './rows.ts';

type Parents = Pick<TenantStore, 'createParent' | 'getParent' | 'listParents' | 'setParentStatus'>;

/** Parent accounts, as the operator sees them. */
export function parents(db: Runner, changes: Changes): Parents {
  return {
    async createParent({ id, name }, claim = null) {
      const made = await changes.run(
        claim,
        (sql, request) => sql`
          select c.*, coherence_history() as incarnation from account_create_parent(${request}, ${id}, ${name}) c`,
      );
      return { ...toParent(made.account), ...replayOf(made) };
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

    async setParentStatus(id, status, claim = null) {
      const set = await changes.run<'none'>(
        claim,
        (sql, request) => sql`
          select c.*, coherence_history() as incarnation
          from account_set_parent_status(${request}, ${id}, ${status}) c`,
      );
      return set.outcome === 'none' ? null : committed(set, toParent(set.account));
    },
  };
}
