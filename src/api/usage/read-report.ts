import { Type, type Static, type TSchema } from 'typebox';
import { parseAccountId, type AccountId } from '../../domain/ids.ts';
import { isUsagePeriod, readUsagePeriod } from '../../domain/usage-period.ts';
import type { UsageGranularity, UsageGroup, UsagePeriod } from '../../domain/usage.ts';
import type { UsageConfig } from '../../config.ts';
import { missingUsage } from '../../domain/usage-kept.ts';
import { ProblemError } from '../../domain/problem.ts';
import { invalidRequest } from '../../http/invalid-request.ts';
import { found } from '../../http/not-found.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Page } from '../../ports/tenant-store.ts';
import type { UsageQuery, UsageReportRow, UsageStore } from '../../ports/usage.ts';
import { pageOf, pageQuery, readPage, writePage } from '../rest/paging.ts';
import { timestamp } from '../rest/typebox.ts';

const granularity = Type.Enum(['hour', 'day', 'month', 'total']);

/** Query parameters of every report. */
export const reportQuery = {
  ...pageQuery(1000),
  from: Type.Optional(Type.String()),
  to: Type.Optional(Type.String()),
  granularity: Type.Optional(granularity),
  sub_account_id: Type.Optional(
    Type.String({
      description: 'the account whose own requests are counted; for a parent itself, the id of the parent',
    }),
  ),
};

const count = Type.Integer();
/** Members of the rows of every report: the start of the period, and the counts. */
export const rowFields = {
  period_start: timestamp,
  requests: count,
  reads: count,
  writes: count,
  client_errors: count,
  server_errors: count,
  bytes_in: count,
  bytes_out: count,
  units: count,
};

/** Returns the members of a report. @param groupBy schema of the grouping @param row schema of a row */
export function reportFields<Group extends TSchema, Row extends TSchema>(groupBy: Group, row: Row) {
  return {
    from: timestamp,
    to: timestamp,
    granularity,
    group_by: groupBy,
    complete_through: timestamp,
    incomplete: Type.Boolean(),
    ...pageOf(row),
  };
}

/** Query parameters of a report as the client sent them. */
export interface ReportQuery<Group extends UsageGroup> {
  readonly limit?: number;
  readonly cursor?: string;
  readonly from?: string;
  readonly to?: string;
  readonly granularity?: UsageGranularity;
  readonly group_by?: Group;
  readonly sub_account_id?: string;
}

/** Dependencies of reports. */
export interface ReportSource {
  readonly usage: Pick<UsageStore, 'report' | 'completeness' | 'parentOf' | 'kept'>;
  readonly clock: Clock;
  readonly config: { readonly usage: Pick<UsageConfig, 'lostAfterMs'> };
}

/** Subject of a report. */
export interface ReportScope {
  /** Parent whose usage is reported; `null` for all parents. */
  readonly parent: AccountId | null;
  /** Id of the parent, or `all`. A cursor is valid only for reports with the same `asker`. */
  readonly asker: string;
}

/** Returns the response body for a row, depending on how the report is grouped. */
export type RowToBody<Group extends UsageGroup, Row> = (
  row: UsageReportRow,
  groupBy: Group | 'sub_account',
) => Row;

/**
 * Reads one page of a report.
 *
 * @throws ProblemError `invalid_request` if the period or the cursor is not valid, or some of the usage is no longer
 * kept; `not_found` if there is no such account
 */
export async function readReport<Group extends UsageGroup, Row>(
  source: ReportSource,
  { parent, asker }: ReportScope,
  query: ReportQuery<Group | 'sub_account'>,
  rowToBody: RowToBody<Group, Row>,
) {
  const { from, to, granularity = 'total', group_by: groupBy = 'sub_account', sub_account_id } = query;
  const list = ['usage', asker, from, to, granularity, groupBy];
  if (sub_account_id !== undefined) list.push(sub_account_id.toLowerCase());
  const wanted = await wantedReport(source, parent, query);
  const { limit, after } = readPage(query, list, (text) => readPosition(text) !== undefined);
  // Later pages cover the same period as the first page. A query without `to` ends at the current time, so its period
  // would otherwise grow from page to page.
  const resumed = after === undefined ? undefined : readPosition(after);
  const period = resumed?.period ?? wanted.period;

  // Completeness is read before the rows, so the rows include everything up to `complete_through`.
  const { throughMs, incomplete, silent } = await source.usage.completeness(
    period,
    source.config.usage.lostAfterMs,
    parent ?? undefined,
  );
  const page = await readKept(source, parent, {
    ...wanted,
    period,
    limit,
    ...(resumed && { after: resumed.after }),
  });
  return {
    from: isoDate(period.fromMs),
    to: isoDate(period.toMs),
    granularity,
    group_by: groupBy,
    complete_through: isoDate(throughMs),
    incomplete,
    silent: [...silent],
    ...writePage(
      page,
      list,
      ({ position }) => writePosition(period, position),
      (row) => rowToBody(row, groupBy),
    ),
  };
}

/** Reads a page of a report. @throws ProblemError `invalid_request` if some of its usage is no longer kept */
export async function readKept(
  { usage }: ReportSource,
  parent: AccountId | null,
  query: UsageQuery,
): Promise<Page<UsageReportRow>> {
  const page = await usage.report(parent, query);
  // Retention is read last: usage that is still kept now was also kept while the page was being read.
  const missing = missingUsage(query.period, query.granularity, await usage.kept(parent ?? undefined));
  if (missing !== null) throw new ProblemError(invalidRequest([missing]));
  return page;
}

/**
 * Reads a query, except for its paging parameters.
 *
 * @throws ProblemError `invalid_request` if the period is not valid; `not_found` if there is no such account
 */
export async function wantedReport(
  { usage, clock }: ReportSource,
  parent: AccountId | null,
  query: ReportQuery<UsageGroup>,
): Promise<Omit<UsageQuery, 'limit' | 'after'>> {
  const { from, to, granularity = 'total', group_by: groupBy = 'sub_account', sub_account_id } = query;
  const period = askedPeriod({ from, to }, clock.wallMs());
  if (sub_account_id === undefined) return { period, granularity, groupBy };
  const account = found(parseAccountId(sub_account_id), 'account');
  const root = found(await usage.parentOf(account, parent ?? undefined), 'account');
  // An account that belongs to another parent is treated as if it did not exist.
  found(parent === null || root === parent ? root : null, 'account');
  return { period, granularity, groupBy, account };
}

/** Returns the response members for the start of a row's period and for the row's counts. */
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
    units: row.units,
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
