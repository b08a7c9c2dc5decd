import type { AccountId } from '../../../domain/ids.ts';
import type { KeptUsage } from '../../../domain/usage-kept.ts';
import { dayMs, type UsageRow } from '../../../domain/usage.ts';
import { UnusableUsage, type SilentReplica, type UsageStore } from '../../../ports/usage.ts';
import { isRejectedValue } from '../connection/failure.ts';
import type { Runner } from '../connection/pool.ts';
import { belowEveryId } from '../page.ts';
import { usageReport } from './usage-report.ts';
import { writesByDefault } from './writes-by-default.ts';

/** Number of hourly rows that one statement rolls up. Late batches wait while the statement runs. */
const hoursOfPortion = 5_000;

type Intake = Pick<UsageStore, 'about' | 'add'>;
type Reports = Pick<
  UsageStore,
  'report' | 'parentOf' | 'kept' | 'writesByDefault' | 'completeness' | 'silent' | 'forget'
>;
type Retention = Pick<UsageStore, 'rollUp' | 'pruneHours' | 'pruneDays'>;

/**
 * Usage counts in PostgreSQL.
 *
 * @param reports runs statements that may take long; changes must not wait for them
 * @param background runs statements that no request waits for
 */
export function usageStore(db: Runner, reports: Runner, background: Runner): UsageStore {
  return { ...intake(background), ...reportsOf(db, reports), ...retention(background) };
}

/** Stores the counts that replicas send. */
function intake(background: Runner): Intake {
  return {
    async about() {
      const [row] = await background.run(
        (sql) => sql<[{ readonly id: string; readonly at: number }]>`
          select id, extract(epoch from clock_timestamp())::double precision * 1000 as at from usage_store`,
      );
      return { id: row.id, nowMs: row.at };
    },

    async add({
      journal,
      after = 0,
      from,
      to,
      rows,
      keysPerAccountHour,
      throughMs,
      host = null,
      readThrough = null,
    }) {
      const [row] = await background
        .run(
          (sql) => sql<[{ readonly rowsIn: number; readonly nowMs: number }]>`
            select rows_in as "rowsIn", now_ms as "nowMs"
            from usage_add_rows(${journal}, ${after}, ${from}, ${to}, ${toCounted(rows)}::text::usage_counted[],
              ${keysPerAccountHour}, ${throughMs}, ${host}, ${readThrough})`,
        )
        .catch((error: unknown) => {
          if (isRejectedValue(error))
            throw new UnusableUsage('the store rejects the counts', { cause: error });
          throw error;
        });
      return row;
    },
  };
}

/** Returns rows as a literal of the type `usage_counted[]`. */
function toCounted(rows: readonly UsageRow[]): string {
  const literals = rows.map(
    (row) =>
      `"(${row.accountId},${row.parentId},${row.keyId},${isoTime(row.hourMs)},${isoTime(row.lastUsedMs)},${row.requests},${row.reads},` +
      `${row.writes},${row.clientErrors},${row.serverErrors},${row.bytesIn},${row.bytesOut},${row.units},${row.writesByDefault},` +
      `${row.writesByDefault > 0 ? isoTime(row.lastWriteByDefaultMs) : ''})"`,
  );
  return `{${literals.join(',')}}`;
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** Reads usage. Also reports which usage is still kept, and up to what time the usage is complete. */
function reportsOf(db: Runner, reports: Runner): Reports {
  return {
    report: (parent, query) => usageReport(reports, parent, query),

    async parentOf(account, parent) {
      const [row] = await db.run(
        (sql) => sql<{ readonly root: AccountId }[]>`
          select coalesce(parent_id, id) as root from account where id = ${account}`,
        parent,
      );
      return row?.root ?? null;
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

    writesByDefault: (parent, sinceMs) => writesByDefault(db, parent, sinceMs),

    async completeness({ fromMs, toMs }, lostAfterMs, parent) {
      const [row] = await db.run(
        (sql) => sql<[{ readonly through: Date; readonly incomplete: boolean; readonly silent: string[] }]>`
          select through, incomplete, to_jsonb(silent) as silent
          from usage_completeness(${lostAfterMs} * interval '1 ms', ${new Date(fromMs)}, ${new Date(toMs)})`,
        parent,
      );
      return { throughMs: row.through.getTime(), incomplete: row.incomplete, silent: row.silent };
    },

    silent: (lostAfterMs) =>
      db.run(
        (sql) => sql<SilentReplica[]>`
          select id, host, at as "lastSeen", through, given_up as "givenUp"
          from usage_silent(${lostAfterMs} * interval '1 ms') order by at`,
      ),

    async forget(replica) {
      const [row] = await db.run(
        (sql) => sql<[{ readonly forgotten: number }]>`select usage_forget(${replica}) as forgotten`,
      );
      return Number(row.forgotten);
    },
  };
}

/** Rolls up hourly counts into daily ones, and deletes usage past its retention period. */
function retention(background: Runner): Retention {
  return {
    async rollUp() {
      const [{ more }] = await background.run(
        (sql) => sql<[{ readonly more: boolean }]>`select usage_roll_up(${hoursOfPortion}) as more`,
      );
      return more;
    },

    async pruneHours({ nowMs, days, after, most }) {
      const before = new Date(nowMs - days * dayMs);
      const [row] = await background.run(
        (sql) => sql<[{ readonly deleted: number; readonly next: AccountId | null }]>`
          select deleted, next_root as next
          from usage_prune_hours(${before}, ${days}, ${after ?? belowEveryId}, ${most})`,
      );
      return row;
    },

    async pruneDays({ nowMs, months, most }) {
      const now = new Date(nowMs);
      const [{ deleted }] = await background.run(
        (sql) => sql<[{ readonly deleted: number }]>`
          select usage_prune_days(
            (${now}::timestamptz at time zone 'UTC' - make_interval(months => ${months})) at time zone 'UTC',
            ${months}, ${most}
          ) as deleted`,
      );
      return deleted;
    },
  };
}
