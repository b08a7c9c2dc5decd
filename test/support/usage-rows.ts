import { randomUUID } from 'node:crypto';
import type { AccountId, KeyId } from '../../src/domain/ids.ts';
import type { UsageRow } from '../../src/domain/usage.ts';
import type { Store } from '../../src/adapters/postgres/store.ts';

export const hour = 3_600_000;
export const april = Date.parse('2026-04-01T00:00:00Z');

/** What was used in the hour of `atMs`: nothing but `counts`; as if the account were a parent, see {@link ofParents}. */
export function usageRow(
  accountId: string,
  atMs: number,
  counts: Partial<Record<keyof UsageRow, unknown>>,
): UsageRow {
  const zero = {
    requests: 0,
    reads: 0,
    writes: 0,
    clientErrors: 0,
    serverErrors: 0,
    bytesIn: 0,
    bytesOut: 0,
    units: 0,
    writesByDefault: 0,
    lastWriteByDefaultMs: 0,
  };
  return {
    accountId: accountId as AccountId,
    parentId: accountId as AccountId,
    keyId: '0190a0a0-0000-7000-8000-000000000001' as KeyId,
    hourMs: Math.floor(atMs / hour) * hour,
    lastUsedMs: atMs,
    ...zero,
    ...(counts as object),
  };
}

/** The rows with the parents that the store knows, as the gateway would count them. */
export async function ofParents(
  usage: Pick<Store['usage'], 'parentOf'>,
  rows: readonly UsageRow[],
): Promise<readonly UsageRow[]> {
  const parents = new Map<AccountId, AccountId | null>();
  for (const { accountId } of rows)
    if (!parents.has(accountId)) parents.set(accountId, await usage.parentOf(accountId).catch(() => null));
  return rows.map((row) => ({ ...row, parentId: parents.get(row.accountId) ?? row.accountId }));
}

/**
 * Adds to the counts, as a replica would that has counted nothing else.
 *
 * @param throughMs it has nothing from before left to add
 * @param readThrough position of the log through which it had read when it counted them
 */
export async function addUsage(
  { store }: { readonly store: Pick<Store, 'usage'> },
  rows: readonly UsageRow[],
  throughMs = Infinity,
  readThrough: number | null = null,
): Promise<void> {
  await store.usage.add({
    journal: randomUUID(),
    from: 0,
    to: rows.length,
    rows: await ofParents(store.usage, rows),
    ...{ keysPerAccountHour: 200, readThrough },
    throughMs,
  });
}
