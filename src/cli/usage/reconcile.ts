import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { exitCode, Failure } from '../failure.ts';
import { findParent } from '../find-account.ts';
import type { Listing } from '../operator-api.ts';
import { refuseOthers } from './inherited-options.ts';
import { table } from '../output.ts';
import { readPeriod } from '../times.ts';

interface Options {
  readonly from?: string;
  readonly to?: string;
  readonly account?: string;
  readonly mend?: true;
}

type Counts = Readonly<Record<string, number>>;

interface Difference {
  readonly account_id: string;
  readonly sub_account_id: string;
  readonly api_key_id: string;
  readonly day: string;
  readonly by_hours: Counts | null;
  readonly by_days: Counts | null;
}

interface Compared extends Listing<Difference> {
  readonly from: string;
  readonly to: string;
  readonly accounts: number;
}

const dayMs = 86_400_000;

/** Most differences shown to people. */
const mostShown = 50;

/** `usage reconcile`: checks that the days behind invoices equal the sums of their hours. */
export function reconcileCommand(usage: Command, context: Context): void {
  usage
    .command('reconcile')
    .description('compare the days of usage with the sums of their hours, and name each difference')
    .usage('--from <date> --to <date> [options]')
    .option('--account <id>', 'of one parent account and its sub-accounts')
    .option('--mend', 'set days that differ to the sum of their hours')
    .action(async (_options: unknown, command: Command) => {
      refuseOthers(command, ['from', 'to']);
      // `--from` and `--to` belong to `usage`, which takes them in any place.
      const options = command.optsWithGlobals<Options>();
      const { account, mend } = options;
      const { from, to } = readPeriod(options, dayMs);
      if (from === undefined || to === undefined)
        throw new Failure(
          exitCode.usage,
          'Which days? --from <date> --to <date>, each from its beginning, UTC.',
        );
      const parent = account && (await findParent(context, account, 'Name its parent.'));
      const differences: Difference[] = [];
      let accounts = 0;
      for (let cursor: string | null | undefined; cursor !== null;) {
        const body = {
          from,
          to,
          ...(parent !== undefined && { account_id: parent }),
          ...(mend === true && { mend }),
          ...(cursor !== undefined && { cursor }),
        };
        const compared: Compared = await context.api().call<Compared>('POST', '/usage/reconcile', body);
        differences.push(...compared.data);
        accounts += compared.accounts;
        cursor = compared.next_cursor;
      }
      const mended = mend === true;
      context
        .output()
        .result({ from, to, accounts, mended, differences }, () => show(differences, accounts, mended));
      if (differences.length > 0 && !mended)
        throw new Failure(
          exitCode.failed,
          `${differences.length} days differ from the sum of their hours.`,
          'With --mend they are set to what the hours say. Find out first who changed which: the gateway changes both at once.',
        );
    });
}

function show(differences: readonly Difference[], accounts: number, mended: boolean): string {
  const compared = `Compared: ${accounts} accounts.`;
  if (differences.length === 0) return `Every day is the sum of its hours. ${compared}`;
  const rows = differences
    .slice(0, mostShown)
    .map(({ sub_account_id, api_key_id, day, by_hours, by_days }) => [
      sub_account_id,
      api_key_id,
      day,
      requestsOf(by_hours),
      requestsOf(by_days),
      namesOf(by_hours, by_days),
    ]);
  const more = differences.length - rows.length;
  return [
    table(['ACCOUNT', 'KEY', 'DAY', 'REQUESTS BY HOURS', 'BY DAY', 'DIFFERENT'], rows),
    ...(more > 0 ? [`and ${more} more: --output json shows all`] : []),
    '',
    mended ? `Mended: ${differences.length}. ${compared}` : compared,
  ].join('\n');
}

function requestsOf(counts: Counts | null): string {
  return counts === null ? '–' : String(counts['requests']);
}

function namesOf(a: Counts | null, b: Counts | null): string {
  return Object.keys(a ?? b ?? {})
    .filter((name) => (a?.[name] ?? 0) !== (b?.[name] ?? 0))
    .join(', ');
}
