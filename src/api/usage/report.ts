import { Type, type Static } from 'typebox';
import { managementScopes } from '../../domain/scope.ts';
import { isUsagePeriod, readUsagePeriod } from '../../domain/usage-period.ts';
import type { UsagePeriod } from '../../domain/usage.ts';
import { pageOf, pageQuery, readPage, writePage } from '../rest/pages.ts';
import { ProblemError } from '../../domain/problem.ts';
import { closed, nullableText, timestamp, type TypedApp } from '../rest/typebox.ts';
import { invalidRequest } from '../../http/invalid-request.ts';
import type { UsageReportRow } from '../../ports/usage.ts';
import { callerOf } from '../guard.ts';
import type { ManagementDeps } from '../deps.ts';

const granularity = Type.Enum(['hour', 'day', 'month', 'total']);
const groupBy = Type.Enum(['sub_account', 'api_key']);

const query = closed({
  ...pageQuery(1000),
  from: Type.Optional(Type.String()),
  to: Type.Optional(Type.String()),
  granularity: Type.Optional(granularity),
  group_by: Type.Optional(groupBy),
});

const count = Type.Integer();
const reportRow = closed({
  sub_account_id: Type.String(),
  external_id: nullableText(),
  name: Type.String(),
  api_key_id: Type.Optional(Type.String()),
  period_start: timestamp,
  requests: count,
  reads: count,
  writes: count,
  client_errors: count,
  server_errors: count,
  bytes_in: count,
  bytes_out: count,
});

const report = closed({
  from: timestamp,
  to: timestamp,
  granularity,
  group_by: groupBy,
  complete_through: timestamp,
  ...pageOf(reportRow),
});

/**
 * The usage report (spec section 4): what was asked of the gateway for the parent and for each of its sub-accounts, by
 * the account that each request operated on.
 */
export function usageReportRoute(app: TypedApp, { usage, clock }: ManagementDeps): void {
  app.get(
    '/usage',
    { schema: { querystring: query, response: { 200: report } }, config: { scope: managementScopes.read } },
    async (request) => {
      const { accountId } = callerOf(request);
      const { from, to, granularity = 'total', group_by: groupBy = 'sub_account' } = request.query;
      const list = ['usage', accountId, from, to, granularity, groupBy];
      const asked = askedPeriod({ from, to }, clock.wallMs());
      const { limit, after } = readPage(request.query, list, (text) => readPosition(text) !== undefined);
      // A report is paged over the period of its first page: "until now" would be another one on each page.
      const resumed = after === undefined ? undefined : readPosition(after);
      const period = resumed?.period ?? asked;

      // Asked first, so that what it promises is in the rows that are read after it.
      const completeThroughMs = await usage.completeThrough(accountId);
      const page = await usage.report(accountId, {
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
        ...writePage(page, list, ({ position }) => writePosition(period, position), rowToBody),
      };
    },
  );
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

function rowToBody(row: UsageReportRow): Static<typeof reportRow> {
  return {
    sub_account_id: row.accountId,
    external_id: row.externalId,
    name: row.name,
    ...(row.keyId !== null && { api_key_id: row.keyId }),
    period_start: isoDate(row.periodStartMs),
    requests: row.requests,
    reads: row.reads,
    writes: row.writes,
    client_errors: row.clientErrors,
    server_errors: row.serverErrors,
    bytes_in: row.bytesIn,
    bytes_out: row.bytesOut,
  };
}

function isoDate(ms: number): string {
  return new Date(ms).toISOString();
}
