/** Usage for contracts: rows that differ by who and when alone, how they are added, and reports over their year. */
import { randomUUID } from 'node:crypto';
import type { Store } from '../../src/adapters/postgres/store.ts';
import type { AccountId, KeyId } from '../../src/domain/ids.ts';
import type { UsageCounts, UsageGranularity, UsageGroup, UsageRow } from '../../src/domain/usage.ts';
import type { UsageQuery, UsageReportRow } from '../../src/ports/usage.ts';
import { ofParents } from './usage-rows.ts';

/** Two hours before {@link february}. */
export const january = Date.UTC(2025, 0, 31, 22);
export const february = Date.UTC(2025, 1, 1);
export const year = { fromMs: Date.UTC(2025, 0, 1), toMs: Date.UTC(2026, 0, 1) };

export function usageCalls(usage: Store['usage']) {
  const report = (
    parent: AccountId | null,
    granularity: UsageGranularity,
    groupBy: UsageGroup = 'sub_account',
    more: Partial<UsageQuery> = {},
  ): Promise<{ rows: readonly UsageReportRow[]; hasMore: boolean }> =>
    usage.report(parent, { period: year, granularity, groupBy, limit: 100, ...more });
  const add = async (
    rows: readonly UsageRow[],
    journal: string = randomUUID(),
    keysPerAccountHour = 200,
  ): Promise<void> => {
    await usage.add({
      ...{ journal, from: 0, to: rows.length, rows: await ofParents(usage, rows) },
      ...{ keysPerAccountHour, throughMs: Infinity },
    });
  };
  return { report, add };
}

/** One request that read a little. */
export function counted(accountId: AccountId, keyId: KeyId, hour: number, lastUsedMs = hour): UsageRow {
  const none = { writesByDefault: 0, lastWriteByDefaultMs: 0 };
  return { accountId, parentId: accountId, keyId, hourMs: hour, lastUsedMs, ...times(1), ...none };
}

export function times(n: number): UsageCounts {
  return {
    requests: n,
    reads: n,
    writes: 2 * n,
    clientErrors: 3 * n,
    serverErrors: 4 * n,
    bytesIn: 5 * n,
    bytesOut: 6 * n,
    units: 7 * n,
  };
}
