import type { AccountId, KeyId } from '../../../domain/ids.ts';
import { ProblemError } from '../../../domain/problem.ts';
import { sumOfUnits, type UsageCounts, type UsageGroup } from '../../../domain/usage.ts';
import type { Page } from '../../../ports/tenant-store.ts';
import type { UsageQuery, UsageReportRow } from '../../../ports/usage.ts';
import { pageOf } from '../page.ts';
import type { Runner } from '../connection/pool.ts';
import { accountsOfReport, type Portion } from './report-accounts.ts';
import { readLines, rowsOfAccount, type Line, type LinePosition } from './report-lines.ts';

/**
 * Approximate number of daily or hourly rows that one statement reads if each account has one key. Rows that are not
 * cached are read from disk one by one, and the statement must finish before the server's deadline.
 */
const rowsOfPortion = 10_000;
const accountsOfPortion = 1_000;
/** Maximum number of accounts in a portion if the previous portion had no usage. */
const idleAccountsOfPortion = 5_000;

/**
 * Reads one page of a report. Lines are sorted by account id, then by bucket, then by key id, each in descending order.
 * If the period begins in the middle of a bucket, the bucket's line starts at the beginning of the period.
 *
 * Each statement reads one portion of the accounts, in the report's order, until the page is full. So a page costs the
 * same wherever it begins, and no statement takes long.
 */
export async function usageReport(
  db: Runner,
  parent: AccountId | null,
  query: UsageQuery,
): Promise<Page<UsageReportRow>> {
  const { groupBy, limit } = query;
  const after = query.after === undefined ? null : readPosition(query.after);
  const tenant = parent ?? undefined;
  const { rows, lines: linesOfAccount } = rowsOfAccount(query);
  const most = between(1, Math.floor(rowsOfPortion / rows), accountsOfPortion);
  let accounts = between(1, Math.ceil((limit + 1) / linesOfAccount), most);

  const page: Line[] = [];
  let open: readonly Line[] = [];
  const portions = accountsOfReport({ db, parent, query, from: after?.accountId ?? null });
  for (;;) {
    const wanted = limit + 1 - page.length;
    const portion = await portions.next(accounts);
    if (portion === null) break;
    const lines = await db.run((sql) => readLines(sql, portion, query, { after, wanted }), tenant);
    const { complete, rest } = splitOff(addUp(open, lines), portion, groupBy);
    page.push(...complete.slice(0, wanted));
    open = rest;
    if (page.length > limit) break;
    accounts =
      lines.length === 0 ? Math.min(accounts * 4, idleAccountsOfPortion) : Math.min(accounts * 2, most);
  }
  return pageOf(page, limit, toRow);
}

/**
 * Separates the lines of a parent whose accounts continue in the next portion. These lines are incomplete until the
 * parent's last portion has been read.
 */
function splitOff(
  lines: readonly Line[],
  { continued }: Portion,
  groupBy: UsageGroup,
): { readonly complete: readonly Line[]; readonly rest: readonly Line[] } {
  if (groupBy !== 'account' || continued === null) return { complete: lines, rest: [] };
  return {
    complete: lines.filter(({ accountId }) => accountId !== continued),
    rest: lines.filter(({ accountId }) => accountId === continued),
  };
}

/** Adds up lines for the same account and bucket; both lists are in the report's order. */
function addUp(open: readonly Line[], lines: readonly Line[]): readonly Line[] {
  if (open.length === 0) return lines;
  const sums = new Map<string, Line>();
  for (const line of [...open, ...lines]) {
    const name = `${line.accountId} ${line.periodStart.getTime()}`;
    const present = sums.get(name);
    sums.set(name, present === undefined ? line : { ...line, ...sumOf(present, line) });
  }
  return [...sums.values()].sort((a, b) => (comesAfter(b, positionOf(a)) ? -1 : 1));
}

function sumOf(a: UsageCounts, b: UsageCounts): UsageCounts {
  return {
    requests: a.requests + b.requests,
    reads: a.reads + b.reads,
    writes: a.writes + b.writes,
    clientErrors: a.clientErrors + b.clientErrors,
    serverErrors: a.serverErrors + b.serverErrors,
    bytesIn: a.bytesIn + b.bytesIn,
    bytesOut: a.bytesOut + b.bytesOut,
    units: sumOfUnits(a.units, b.units),
  };
}

function between(least: number, n: number, most: number): number {
  return Math.max(least, Math.min(n, most));
}

function positionOf({ accountId, periodStart, keyId }: Line): LinePosition {
  return { accountId, bucket: periodStart, keyId: keyId ?? '' };
}

/** Returns whether `line` comes after this position in a report. As text, ids sort in the same order as UUIDs. */
function comesAfter(line: Line, { accountId, bucket, keyId }: LinePosition): boolean {
  if (line.accountId !== accountId) return line.accountId < accountId;
  if (line.periodStart.getTime() !== bucket.getTime()) return line.periodStart < bucket;
  return line.keyId !== null && line.keyId < keyId;
}

function toRow({ periodStart, ...line }: Line): UsageReportRow {
  const periodStartMs = periodStart.getTime();
  return { ...line, periodStartMs, position: `${line.accountId} ${periodStartMs} ${line.keyId ?? ''}` };
}

function readPosition(text: string): LinePosition {
  const [, accountId, bucketMs, keyId] = /^([0-9a-f-]{36}) (\d{1,13}) ([0-9a-f-]{36}|)$/.exec(text) ?? [];
  if (accountId === undefined) {
    throw new ProblemError({
      code: 'invalid_request',
      detail: 'The cursor is not one of this report.',
      errors: [{ pointer: '?cursor', detail: 'must be `next_cursor` of the previous page, unchanged.' }],
    });
  }
  return {
    accountId: accountId as AccountId,
    bucket: new Date(Number(bucketMs)),
    keyId: keyId as KeyId | '',
  };
}
