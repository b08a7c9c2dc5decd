import type postgres from 'postgres';
import type { AccountId, KeyId } from '../../../domain/ids.ts';
import { dayMs, hourMs, type UsageGranularity, type UsagePeriod } from '../../../domain/usage.ts';
import type { UsageQuery, UsageReportRow } from '../../../ports/usage.ts';
import type { Sql } from '../connection/sql.ts';
import type { Portion } from './report-accounts.ts';

/** One line of a report, as the statement returns it. */
export type Line = Omit<UsageReportRow, 'periodStartMs' | 'position'> & { readonly periodStart: Date };

/** Identifies the last line of a page, after which the next page continues. */
export interface LinePosition {
  readonly accountId: AccountId;
  readonly bucket: Date;
  readonly keyId: KeyId | '';
}

/** Returns the maximum size of a report on one account with one key: `rows` to read, and `lines` in the report. */
export function rowsOfAccount({ period, granularity }: UsageQuery): {
  readonly rows: number;
  readonly lines: number;
} {
  const { fromMs, toMs } = period;
  const days = wholeDays(period, granularity);
  const hours = (toMs - fromMs - (days ? days.endMs - days.firstMs : 0)) / hourMs;
  const rows = hours + (days ? (days.endMs - days.firstMs) / dayMs : 0);
  const length = { hour: hourMs, day: dayMs, month: 31 * dayMs, total: Infinity }[granularity];
  return { rows, lines: 1 + Math.floor((toMs - fromMs) / length) };
}

/**
 * Reads a report's lines for the accounts in one portion, in the report's order. Whole days are read from daily rows.
 * Hourly rows are read if the report is by hour, for partial days, and for days that have not been rolled up yet (see
 * `usage_rolled_until`).
 *
 * The statement looks up each account separately, in ranges of the primary keys. `offset 0` keeps PostgreSQL from
 * merging the look-ups into one join, for which it would read whole tables whenever it believes that they are small.
 */
export async function readLines(
  sql: Sql,
  { accounts }: Portion,
  { period, granularity, groupBy }: UsageQuery,
  { after, wanted }: { readonly after: LinePosition | null; readonly wanted: number },
): Promise<readonly Line[]> {
  const byKey = groupBy === 'api_key';
  const counted = groupBy === 'account' ? sql`s.root_id` : sql`s.account_id`;
  const bucket = bucketOf(sql, granularity, period);
  // `groupBy: 'account'` adds up a parent and its sub-accounts into one line per bucket. If one statement cannot read
  // all of these accounts, the caller adds up the lines of several statements. A `limit` would leave lines out of the
  // sums.
  const limit = groupBy === 'account' ? sql`` : sql`limit ${wanted}`;
  return sql<Line[]>`
    select l.*, a.external_id as "externalId", case when a.deleted_at is null then a.name end as name
    from (
      select ${counted} as "accountId", s.root_id as "parentId", ${byKey ? sql`u.key_id` : sql`null`} as "keyId",
        ${bucket} as "periodStart",
        sum(u.requests)::bigint as requests, sum(u.reads)::bigint as reads, sum(u.writes)::bigint as writes,
        sum(u.client_errors)::bigint as "clientErrors", sum(u.server_errors)::bigint as "serverErrors",
        sum(u.bytes_in)::bigint as "bytesIn", sum(u.bytes_out)::bigint as "bytesOut",
        units_sum(sum(u.units)) as units
      from jsonb_to_recordset(${sql.json(accounts)}) s (root_id uuid, account_id uuid)
        cross join usage_kept k
        cross join lateral (${rowsOf(sql, period, granularity)} offset 0) u
      ${after === null ? sql`` : afterPosition(sql, after, { counted, bucket, byKey })}
      group by 1, 2, 3, 4
      order by 1 desc, 4 desc ${byKey ? sql`, 3 desc` : sql``} ${limit}
    ) l join account a on a.id = l."accountId"
    order by 1 desc, 4 desc ${byKey ? sql`, 3 desc` : sql``}`;
}

type Fragment = postgres.Fragment;

/** Returns SQL that reads the usage rows of account `s` in the period; `at` is the start of a row's hour or day. */
function rowsOf(sql: Sql, period: UsagePeriod, granularity: UsageGranularity): Fragment {
  const counts = sql`requests, reads, writes, client_errors, server_errors, bytes_in, bytes_out, units`;
  const hours = (since: Fragment, until: Fragment): Fragment => sql`
    select hour as at, key_id, ${counts} from usage_hourly
    where root_id = s.root_id and account_id = s.account_id and hour >= ${since} and hour < ${until}`;
  const days = wholeDays(period, granularity);
  const [from, to] = [sql`${new Date(period.fromMs)}`, sql`${new Date(period.toMs)}`];
  if (days === null) return hours(from, to);
  const [first, end] = [sql`${isoDay(days.firstMs)}::date`, sql`${isoDay(days.endMs)}::date`];
  const split = sql`greatest(${first}, least(${end}, usage_rolled_until(k, s.root_id, s.account_id)))`;
  return sql`
    select day::timestamp at time zone 'UTC' as at, key_id, ${counts} from usage_daily
    where root_id = s.root_id and account_id = s.account_id and day >= ${first} and day < ${split}
    union all ${hours(from, sql`${new Date(days.firstMs)}`)}
    union all ${hours(sql`${split}::timestamp at time zone 'UTC'`, to)}`;
}

/** Returns the whole days (UTC) in the period; `null` if there are none, or if the report is by hour. */
function wholeDays(
  { fromMs, toMs }: UsagePeriod,
  granularity: UsageGranularity,
): { readonly firstMs: number; readonly endMs: number } | null {
  const firstMs = Math.ceil(fromMs / dayMs) * dayMs;
  const endMs = Math.floor(toMs / dayMs) * dayMs;
  return granularity === 'hour' || endMs <= firstMs ? null : { firstMs, endMs };
}

function isoDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

function bucketOf(sql: Sql, granularity: UsageGranularity, { fromMs }: UsagePeriod): Fragment {
  const from = new Date(fromMs);
  switch (granularity) {
    case 'hour':
      return sql`u.at`;
    case 'day':
      return sql`greatest(date_trunc('day', u.at, 'UTC'), ${from})`;
    case 'month':
      return sql`greatest(date_trunc('month', u.at, 'UTC'), ${from})`;
    case 'total':
      return sql`${from}::timestamptz`;
  }
}

function afterPosition(
  sql: Sql,
  { accountId, bucket, keyId }: LinePosition,
  of: { readonly counted: Fragment; readonly bucket: Fragment; readonly byKey: boolean },
): Fragment {
  return of.byKey
    ? sql`where (${of.counted}, ${of.bucket}, u.key_id) < (${accountId}, ${bucket}, ${keyId})`
    : sql`where (${of.counted}, ${of.bucket}) < (${accountId}, ${bucket})`;
}
