import type { AccountId } from '../../../domain/ids.ts';
import { UnusableUsage, type KeptUsage, type UsageStore } from '../../../ports/usage.ts';
import { isRejectedValue } from '../connection/failure.ts';
import type { Runner } from '../connection/pool.ts';
import { reconcileUsage } from './reconcile.ts';
import { usageReport } from './usage-report.ts';

/** Rows of hours that are added up at once: batches of counts wait for it. */
const hoursOfPortion = 5_000;

/**
 * Usage counts in PostgreSQL.
 *
 * @param reports for what may take long: changes must not wait for it
 * @param background for what no request waits for
 */
export function usageStore(db: Runner, reports: Runner, background: Runner): UsageStore {
  return {
    async add(batchId, rows, replicaId, throughMs) {
      const counts = rows.map((row) => ({
        account_id: row.accountId,
        key_id: row.keyId,
        hour: new Date(row.hourMs).toISOString(),
        last_used: new Date(row.lastUsedMs).toISOString(),
        requests: row.requests,
        reads: row.reads,
        writes: row.writes,
        client_errors: row.clientErrors,
        server_errors: row.serverErrors,
        bytes_in: row.bytesIn,
        bytes_out: row.bytesOut,
      }));
      await background
        .run((sql) => sql`select usage_add(${batchId}, ${sql.json(counts)}, ${replicaId}, ${throughMs})`)
        .catch((error: unknown) => {
          if (isRejectedValue(error))
            throw new UnusableUsage('the store rejects the counts', { cause: error });
          throw error;
        });
    },

    report: (parent, query) => usageReport(reports, parent, query),

    async parentOf(account, parent) {
      const [row] = await db.run(
        (sql) => sql<{ readonly root: AccountId }[]>`
          select coalesce(parent_id, id) as root from account where id = ${account}`,
        parent,
      );
      return row?.root ?? null;
    },

    async rollUp() {
      const [{ more }] = await background.run(
        (sql) => sql<[{ readonly more: boolean }]>`select usage_roll_up(${hoursOfPortion}) as more`,
      );
      return more;
    },

    async kept(parent) {
      const [row] = await db.run(
        (sql) => sql<[KeptUsage]>`
          select extract(epoch from hours_from)::double precision * 1000 as "hoursFromMs",
            extract(epoch from days_from)::double precision * 1000 as "daysFromMs" from usage_kept`,
        parent,
      );
      return row;
    },

    reconcile: (comparison) => reconcileUsage(reports, comparison),

    async completeThrough(parent) {
      const [row] = await db.run(
        (sql) => sql<[{ readonly at: Date }]>`select usage_complete_through() as at`,
        parent,
      );
      return row.at.getTime();
    },
  };
}
