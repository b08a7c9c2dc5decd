/** Every question that a usage report can be asked, with the answer counted from the rows themselves. */
import type { Test } from 'tap';
import type { Store } from '../../src/adapters/postgres/store.ts';
import type { AccountId } from '../../src/domain/ids.ts';
import {
  dayMs,
  hourMs,
  type UsageGranularity,
  type UsageGroup,
  type UsageRow,
} from '../../src/domain/usage.ts';
import type { UsageQuery } from '../../src/ports/usage.ts';
import type { PageQuery } from '../../src/ports/tenant-store.ts';
import { newKeyId } from './drafts.ts';
import { createParent, createSub, everyPage } from './store.ts';
import { addUsage, usageRow } from './usage-rows.ts';

export const march = Date.UTC(2025, 2, 1);
const granularities: readonly UsageGranularity[] = ['hour', 'day', 'month', 'total'];
const groups: readonly UsageGroup[] = ['account', 'sub_account', 'api_key'];

/** Two parents with sub-accounts, several keys, from the end of February to the beginning of May, some accounts without any. */
export async function someUsage(store: Store): Promise<readonly UsageRow[]> {
  const keys = [newKeyId(), newKeyId()];
  const rows: UsageRow[] = [];
  for (let p = 0; p < 2; p++) {
    const { id: parent } = await createParent(store.tenants);
    const accounts = [parent];
    for (let i = 0; i < 6; i++) accounts.push((await createSub(store.tenants, parent)).value.id);
    for (const [i, account] of accounts.entries()) {
      if (i === 3) continue;
      for (let n = 0; n < 25; n++) {
        const at = march - 2 * dayMs + (((n * 59 + i * 13) * hourMs) % (65 * dayMs));
        rows.push(
          usageRow(account, at, { keyId: keys[n % 2], requests: 1 + n, reads: n, writes: 1, bytesOut: i }),
        );
      }
    }
  }
  await addUsage({ store }, rows, march);
  return rows;
}

interface Question {
  readonly parent: AccountId | null;
  readonly query: Omit<UsageQuery, 'limit'>;
  readonly expected: readonly unknown[];
}

/** Of all parents, of one, and of one account, over periods that end in the middle of days and months, too. */
export async function everyQuestion(store: Store, rows: readonly UsageRow[]): Promise<readonly Question[]> {
  const roots = new Map<AccountId, AccountId>();
  for (const { accountId } of rows)
    roots.set(accountId, (await store.usage.parentOf(accountId)) ?? accountId);
  const [parent] = roots.values();
  const [, sub] = roots.keys();
  const periods = [
    { fromMs: march, toMs: march + 31 * dayMs },
    { fromMs: march - 5 * dayMs + 7 * hourMs, toMs: march + 60 * dayMs + 5 * hourMs },
    { fromMs: march + 5 * hourMs, toMs: march + 9 * hourMs },
    { fromMs: march - 3 * hourMs, toMs: march + 3 * hourMs },
  ];
  const scopes = [
    { parent: null },
    { parent: parent! },
    { parent: parent!, account: sub! },
    { parent: null, account: parent! },
  ];
  return scopes.flatMap(({ parent, account }) =>
    periods.flatMap((period) =>
      granularities.flatMap((granularity) =>
        groups.map((groupBy): Question => {
          const query = { period, granularity, groupBy, ...(account !== undefined && { account }) };
          const counted = rows.filter(
            (row) =>
              (parent === null || roots.get(row.accountId) === parent) &&
              (account === undefined || row.accountId === account),
          );
          return { parent, query, expected: expectedLines(counted, query, roots) };
        }),
      ),
    ),
  );
}

function expectedLines(
  rows: readonly UsageRow[],
  { period, granularity, groupBy }: Omit<UsageQuery, 'limit'>,
  roots: ReadonlyMap<AccountId, AccountId>,
): readonly unknown[] {
  const lines = new Map<string, Record<string, unknown>>();
  for (const row of rows) {
    if (row.hourMs < period.fromMs || row.hourMs >= period.toMs) continue;
    const accountId = groupBy === 'account' ? roots.get(row.accountId)! : row.accountId;
    const keyId = groupBy === 'api_key' ? row.keyId : null;
    const periodStartMs = Math.max(period.fromMs, startOf(row.hourMs, granularity, period.fromMs));
    const name = [accountId, String(periodStartMs).padStart(15, '0'), keyId].join(' ');
    const line = lines.get(name) ?? {
      accountId,
      keyId,
      periodStartMs,
      requests: 0,
      reads: 0,
      writes: 0,
      bytesOut: 0,
    };
    for (const field of ['requests', 'reads', 'writes', 'bytesOut'] as const)
      line[field] = (line[field] as number) + row[field];
    lines.set(name, line);
  }
  return [...lines].sort(([a], [b]) => (a < b ? 1 : -1)).map(([, line]) => line);
}

function startOf(ms: number, granularity: UsageGranularity, fromMs: number): number {
  const date = new Date(ms);
  if (granularity === 'hour') return ms;
  if (granularity === 'day') return Math.floor(ms / dayMs) * dayMs;
  return granularity === 'month' ? Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1) : fromMs;
}

/** Reports as the store makes them, page by page, are what was expected. */
export async function compare(
  t: Test,
  store: Store,
  questions: readonly Question[],
  what: string,
): Promise<void> {
  let different = 0;
  for (const { parent, query, expected } of questions) {
    const list = (page: PageQuery) => store.usage.report(parent, { ...query, ...page });
    const lines = await everyPage(list, 40, ({ position }) => position);
    const got = lines.map(({ accountId, keyId, periodStartMs, requests, reads, writes, bytesOut }) => ({
      ...{ accountId, keyId, periodStartMs, requests, reads, writes, bytesOut },
    }));
    if (JSON.stringify(got) !== JSON.stringify(expected)) {
      different += 1;
      t.same(got, expected, `${what}: ${JSON.stringify({ parent, ...query })}`);
    }
  }
  t.equal(different, 0, what);
}
