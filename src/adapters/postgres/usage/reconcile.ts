import type { AccountId, KeyId } from '../../../domain/ids.ts';
import { dayMs, type UsageCounts } from '../../../domain/usage.ts';
import type { ComparedUsage, UsageComparison } from '../../../ports/usage.ts';
import type { Runner } from '../connection/pool.ts';
import { aboveEveryId } from '../page.ts';
import { accountsOfReport } from './report-accounts.ts';

/** Approximate rows of hours that one statement, and so one call, reads for accounts with one key. */
const rowsOfPortion = 20_000;
const portionsOfCall = 10;
const hoursOfDay = 24;

/** Counts in the statement's result. */
type Counts = readonly [number, number, number, number, number, number, number];

interface Row {
  readonly account_id: AccountId;
  readonly root_id: AccountId;
  readonly key_id: KeyId;
  readonly day: string;
  readonly by_hours: Counts | null;
  readonly by_days: Counts | null;
}

/** Compares days with the sums of their hours, account by account, newest first. */
export async function reconcileUsage(
  db: Runner,
  { parent, firstMs, endMs, after, mend }: UsageComparison,
): Promise<ComparedUsage | null> {
  const [{ complete }] = await db.run(
    (sql) => sql<[{ readonly complete: boolean }]>`
      select account_id = ${aboveEveryId} as complete from usage_kept`,
  );
  if (!complete) return null;
  const [first, end] = [firstMs, endMs].map((ms) => new Date(ms).toISOString().slice(0, 10));
  const hours = ((endMs - firstMs) / dayMs) * hoursOfDay;
  const most = Math.max(1, Math.floor(rowsOfPortion / hours));
  const portions = accountsOfReport({ db, parent, query: { groupBy: 'sub_account' }, from: after });
  const differences: Row[] = [];
  let accounts = 0;
  let last: AccountId | null = after;
  for (let i = 0; i < portionsOfCall; i++) {
    const portion = await portions.next(most);
    if (portion === null) return { accounts, differences: differences.map(toDifference), next: null };
    // The call before ended with the first of these accounts.
    const compared = portion.accounts.filter(({ account_id }) => account_id !== after);
    const rows = await db.run(
      (sql) => sql<Row[]>`
        select root_id, account_id, day::text, key_id, to_json(by_hours) as by_hours, to_json(by_days) as by_days
        from usage_reconcile(${sql.json(compared)}, ${first!}::date, ${end!}::date, ${mend})`,
    );
    differences.push(...rows);
    accounts += compared.length;
    last = compared.at(-1)?.account_id ?? last;
  }
  return { accounts, differences: differences.map(toDifference), next: last };
}

function toDifference({ account_id, root_id, key_id, day, by_hours, by_days }: Row) {
  return {
    accountId: account_id,
    parentId: root_id,
    keyId: key_id,
    day,
    byHours: by_hours && toCounts(by_hours),
    byDays: by_days && toCounts(by_days),
  };
}

function toCounts([
  requests,
  reads,
  writes,
  clientErrors,
  serverErrors,
  bytesIn,
  bytesOut,
]: Counts): UsageCounts {
  return { requests, reads, writes, clientErrors, serverErrors, bytesIn, bytesOut };
}
