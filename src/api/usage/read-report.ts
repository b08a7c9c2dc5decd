import { Type, type Static, type TSchema } from 'typebox';
import type { AccountId } from '../../domain/ids.ts';
import { isUsagePeriod, readUsagePeriod } from '../../domain/usage-period.ts';
import type { UsageGranularity, UsageGroup, UsagePeriod } from '../../domain/usage.ts';
import { ProblemError } from '../../domain/problem.ts';
import { invalidRequest } from '../../http/invalid-request.ts';
import type { Clock } from '../../ports/clock.ts';
import type { UsageReportRow, UsageStore } from '../../ports/usage.ts';
import { pageOf, pageQuery, readPage, writePage } from '../rest/pages.ts';
import { timestamp } from '../rest/typebox.ts';

const granularity = Type.Enum(['hour', 'day', 'month', 'total']);

/** Query parameters of every report. */
export const reportQuery = {
  ...pageQuery(1000),
  from: Type.Optional(Type.String()),
  to: Type.Optional(Type.String()),
  granularity: Type.Optional(granularity),
};

const count = Type.Integer();
/** What is counted, in the rows of every report. */
export const rowFields = {
  period_start: timestamp,
  requests: count,
  reads: count,
  writes: count,
  client_errors: count,
  server_errors: count,
  bytes_in: count,
  bytes_out: count,
};

/** The members of a report of `row`, grouped by `groupBy`. */
export function reportFields<Group extends TSchema, Row extends TSchema>(groupBy: Group, row: Row) {
  return {
    from: timestamp,
    to: timestamp,
    granularity,
    group_by: groupBy,
    complete_through: timestamp,
    ...pageOf(row),
  };
}

/** What a client asks for. */
export interface ReportQuery<Group extends UsageGroup> {
  readonly limit?: number;
  readonly cursor?: string;
  readonly from?: string;
  readonly to?: string;
  readonly granularity?: UsageGranularity;
  readonly group_by?: Group;
}

/**
 * Reads one page of a report.
 *
 * @param parent whose usage; `null` for that of all accounts
 * @param asker who asks: a cursor is good for the report it came from alone
 * @throws ProblemError `invalid_request` where period or cursor cannot be used
 */
export async function readReport<Group extends UsageGroup, Row>(
  { usage, clock }: { readonly usage: Pick<UsageStore, 'report' | 'completeThrough'>; readonly clock: Clock },
  { parent, asker }: { readonly parent: AccountId | null; readonly asker: string },
  query: ReportQuery<Group | 'sub_account'>,
  rowToBody: (row: UsageReportRow, groupBy: Group | 'sub_account') => Row,
) {
  const { from, to, granularity = 'total', group_by: groupBy = 'sub_account' } = query;
  const list = ['usage', asker, from, to, granularity, groupBy];
  const asked = askedPeriod({ from, to }, clock.wallMs());
  const { limit, after } = readPage(query, list, (text) => readPosition(text) !== undefined);
  // A report is paged over the period of its first page: "until now" would be another one on each page.
  const resumed = after === undefined ? undefined : readPosition(after);
  const period = resumed?.period ?? asked;

  // Asked first, so that what it promises is in the rows that are read after it.
  const completeThroughMs = await usage.completeThrough(parent ?? undefined);
  const page = await usage.report(parent, {
    period,
    granularity,
    groupBy,
    limit,
    ...(resumed && { after: resumed.after }),
  });
  return {
    from: isoDate(period.fromMs),
    to: isoDate(period.toMs),
    granularity,
    group_by: groupBy,
    complete_through: isoDate(completeThroughMs),
    ...writePage(
      page,
      list,
      ({ position }) => writePosition(period, position),
      (row) => rowToBody(row, groupBy),
    ),
  };
}

/** The counts of a row. */
export function countsToBody(row: UsageReportRow) {
  return {
    period_start: isoDate(row.periodStartMs),
    requests: row.requests,
    reads: row.reads,
    writes: row.writes,
    client_errors: row.clientErrors,
    server_errors: row.serverErrors,
    bytes_in: row.bytesIn,
    bytes_out: row.bytesOut,
  } satisfies { [Field in keyof typeof rowFields]: Static<(typeof rowFields)[Field]> };
}

function askedPeriod(asked: Parameters<typeof readUsagePeriod>[0], nowMs: number): UsagePeriod {
  const period = readUsagePeriod(asked, nowMs);
  if ('fromMs' in period) return period;
  throw new ProblemError(invalidRequest(period));
}

function writePosition({ fromMs, toMs }: UsagePeriod, after: string): string {
  return `${fromMs} ${toMs} ${after}`;
}

function readPosition(text: string): { readonly period: UsagePeriod; readonly after: string } | undefined {
  const [, fromMs, toMs, after] = /^(\d{1,15}) (\d{1,15}) (.+)$/s.exec(text) ?? [];
  if (after === undefined) return undefined;
  const period = { fromMs: Number(fromMs), toMs: Number(toMs) };
  return isUsagePeriod(period) ? { period, after } : undefined;
}

function isoDate(ms: number): string {
  return new Date(ms).toISOString();
}
