import type { AccountId } from '../../../domain/ids.ts';
import type { UsageCounts } from '../../../domain/usage.ts';
import type { UsageExportStore } from '../../../ports/usage/export.ts';
import type { Runner } from '../connection/pool.ts';
import { belowEveryId } from '../page.ts';

type Counts = readonly [number, number, number, number, number, number, number, number];

interface HourRow {
  readonly account_id: AccountId;
  readonly root_id: AccountId;
  readonly external_id: string | null;
  readonly counts: Counts;
}

interface StateRow {
  readonly mine: boolean;
  readonly hourMs: number | null;
  readonly after: AccountId | null;
  readonly corrections: number;
  readonly closedUntilMs: number;
  readonly beganMs: number | null;
}

type Progress = Pick<UsageExportStore, 'begin' | 'advance' | 'end' | 'closedUntil'>;
type Rows = Pick<UsageExportStore, 'hour' | 'corrections'>;

/**
 * The usage export in PostgreSQL.
 *
 * @param reports runs statements that may read many rows
 * @param background runs statements that no request waits for
 */
export function usageExportStore(reports: Runner, background: Runner): UsageExportStore {
  return { ...progress(background), ...rowsToExport(reports) };
}

/** Lets only one replica at a time export, and saves how far the export has got. */
function progress(background: Runner): Progress {
  return {
    async begin({ holder, leaseMs, delayMs, lostAfterMs }) {
      const [{ mine }] = await background.run(
        (sql) => sql<[{ readonly mine: boolean }]>`
          select usage_export_begin(${holder}, ${leaseMs} * interval '1 ms', ${delayMs} * interval '1 ms',
            ${lostAfterMs} * interval '1 ms') as mine`,
      );
      const [row] = await background.run(
        (sql) => sql<[Omit<StateRow, 'mine'>]>`
          select extract(epoch from hour)::double precision * 1000 as "hourMs", after_account as after, corrections,
            extract(epoch from closed_until)::double precision * 1000 as "closedUntilMs",
            extract(epoch from began)::double precision * 1000 as "beganMs"
          from usage_export`,
      );
      const { hourMs, after, corrections, closedUntilMs, beganMs } = row;
      return {
        mine,
        position: hourMs === null ? null : { hourMs, after, corrections },
        closedUntilMs,
        beganMs: beganMs ?? Infinity,
      };
    },

    async advance({ holder, leaseMs }, { hourMs, after, corrections }) {
      const rows = await background.run(
        (sql) => sql`
          update usage_export set hour = ${new Date(hourMs)}, after_account = ${after}, corrections = ${corrections},
            held_until = clock_timestamp() + ${leaseMs} * interval '1 ms'
          where holder = ${holder} returning one`,
      );
      return rows.length > 0;
    },

    async end(holder) {
      await background.run(
        (sql) => sql`
          update usage_export set holder = null, held_until = '-infinity' where holder = ${holder}`,
      );
    },

    async closedUntil() {
      const [{ ms }] = await background.run(
        (sql) => sql<[{ readonly ms: number }]>`
          select extract(epoch from closed_until)::double precision * 1000 as ms from usage_export`,
      );
      return ms;
    },
  };
}

/** Reads the usage to export. */
function rowsToExport(reports: Runner): Rows {
  return {
    async hour(hourMs, after, most) {
      const rows = await reports.run(
        (sql) => sql<(Omit<HourRow, 'counts'> & { readonly counts: Counts | null })[]>`
          select account_id, root_id, external_id, to_json(counts) as counts
          from usage_export_hour(${new Date(hourMs)}, ${after ?? belowEveryId}, ${most})`,
      );
      const used = rows.flatMap(({ account_id, root_id, external_id, counts }) => {
        if (counts === null || counts.every((count) => count === 0)) return [];
        const about = { accountId: account_id, parentId: root_id, externalId: external_id };
        return [{ ...about, hourMs, correction: null, ...toCounts(counts) }];
      });
      const last = rows.at(-1);
      // A row without counts says that more parents may follow.
      const mayFollow = last !== undefined && (last.counts === null || rows.length >= most);
      return { rows: used, next: mayFollow ? last.account_id : null };
    },

    async corrections({ after, fromMs, toMs, most }) {
      const rows = await reports.run(
        (sql) => sql<
          readonly (HourRow & { readonly number: number; readonly id: string; readonly hourMs: number })[]
        >`
          select l.account_id, l.root_id, a.external_id, l.number, l.id,
            extract(epoch from l.hour)::double precision * 1000 as "hourMs",
            json_build_array(l.requests, l.reads, l.writes, l.client_errors, l.server_errors, l.bytes_in, l.bytes_out, l.units) as counts
          from usage_late l join account a on a.id = l.account_id
          where l.number > ${after} and l.number > 0 and l.hour >= to_timestamp(${fromMs / 1000}::double precision)
            and l.hour < to_timestamp(${toMs / 1000}::double precision)
          order by l.number limit ${most}`,
      );
      return rows.map((row) => ({
        ...{ accountId: row.account_id, parentId: row.root_id, externalId: row.external_id },
        ...{ hourMs: row.hourMs, correction: row.id, number: row.number },
        ...toCounts(row.counts),
      }));
    },
  };
}

function toCounts(counts: Counts): UsageCounts {
  const [requests, reads, writes, clientErrors, serverErrors, bytesIn, bytesOut, units] = counts;
  return { requests, reads, writes, clientErrors, serverErrors, bytesIn, bytesOut, units };
}
