import type { AccountId, KeyId } from '../../../domain/ids.ts';
import { ProblemError } from '../../../domain/problem.ts';
import type { UsageGranularity, UsagePeriod } from '../../../domain/usage.ts';
import type { Page } from '../../../ports/tenant-store.ts';
import type { UsageQuery, UsageReportRow } from '../../../ports/usage.ts';
import { pageOf } from '../page.ts';
import type { Runner } from '../connection/pool.ts';
import type { Sql } from '../connection/sql.ts';

/** One line as the statement returns it. */
type Line = Omit<UsageReportRow, 'periodStartMs' | 'position'> & { readonly periodStart: Date };

/**
 * Reads one page of a report, newest account first, then newest bucket, then newest key. A bucket that `from` cuts
 * begins at `from`: a line covers what it says.
 */
export async function usageReport(
  db: Runner,
  parent: AccountId | null,
  query: UsageQuery,
): Promise<Page<UsageReportRow>> {
  const { period, granularity, groupBy, limit } = query;
  const after = query.after === undefined ? undefined : readPosition(query.after);
  const lines = await db.run((sql) => {
    const bucket = bucketOf(sql, granularity, period);
    const byKey = groupBy === 'api_key';
    const account = groupBy === 'account' ? sql`root_id` : sql`account_id`;
    return sql<Line[]>`
      select u.counted_id as "accountId", u.root_id as "parentId", a.external_id as "externalId", a.name,
        ${byKey ? sql`u.key_id` : sql`null`} as "keyId", u.bucket as "periodStart",
        sum(u.requests)::bigint as requests, sum(u.reads)::bigint as reads, sum(u.writes)::bigint as writes,
        sum(u.client_errors)::bigint as "clientErrors", sum(u.server_errors)::bigint as "serverErrors",
        sum(u.bytes_in)::bigint as "bytesIn", sum(u.bytes_out)::bigint as "bytesOut"
      from (
        select *, ${account} as counted_id, ${bucket} as bucket from usage_hourly
        where hour >= ${new Date(period.fromMs)} and hour < ${new Date(period.toMs)}
          ${parent === null ? sql`` : sql`and root_id = ${parent}`}
          ${after ? sql`and ${account} <= ${after.accountId}` : sql``}
      ) u join account a on a.id = u.counted_id
      ${after ? afterPosition(sql, after, byKey) : sql``}
      group by u.counted_id, u.root_id, u.bucket, ${byKey ? sql`u.key_id,` : sql``} a.external_id, a.name
      order by u.counted_id desc, u.bucket desc ${byKey ? sql`, u.key_id desc` : sql``}
      limit ${limit + 1}`;
  }, parent ?? undefined);
  return pageOf(lines, limit, ({ periodStart, ...line }) => {
    const periodStartMs = periodStart.getTime();
    return { ...line, periodStartMs, position: `${line.accountId} ${periodStartMs} ${line.keyId ?? ''}` };
  });
}

function bucketOf(sql: Sql, granularity: UsageGranularity, { fromMs }: UsagePeriod): ReturnType<Sql> {
  const from = new Date(fromMs);
  switch (granularity) {
    case 'hour':
      return sql`hour`;
    case 'day':
      return sql`greatest(date_trunc('day', hour, 'UTC'), ${from})`;
    case 'month':
      return sql`greatest(date_trunc('month', hour, 'UTC'), ${from})`;
    case 'total':
      return sql`${from}::timestamptz`;
  }
}

interface Position {
  readonly accountId: AccountId;
  readonly bucket: Date;
  readonly keyId: KeyId | '';
}

function afterPosition(sql: Sql, { accountId, bucket, keyId }: Position, byKey: boolean): ReturnType<Sql> {
  return byKey
    ? sql`where (u.counted_id, u.bucket, u.key_id) < (${accountId}, ${bucket}, ${keyId})`
    : sql`where (u.counted_id, u.bucket) < (${accountId}, ${bucket})`;
}

function readPosition(text: string): Position {
  const [, accountId, bucketMs, keyId] = /^([0-9a-f-]{36}) (\d{1,13}) ([0-9a-f-]{36}|)$/.exec(text) ?? [];
  if (accountId === undefined) {
    throw new ProblemError({
      code: 'invalid_request',
      detail: 'The cursor is not one of this report.',
      errors: [{ pointer: '?cursor', detail: 'Use `next_cursor` of the page before, unchanged.' }],
    });
  }
  return {
    accountId: accountId as AccountId,
    bucket: new Date(Number(bucketMs)),
    keyId: keyId as KeyId | '',
  };
}
