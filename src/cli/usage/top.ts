import { Option, type Command } from 'commander';
import type { Context } from '../context.ts';
import type { Listing } from '../operator-api.ts';
import { readPeriod } from '../times.ts';
import { refuseOthers } from './inherited-options.ts';
import { table } from '../output.ts';

const counters = ['requests', 'client_errors', 'server_errors', 'bytes_in', 'bytes_out'] as const;
type Counter = (typeof counters)[number];

interface Options {
  readonly from?: string;
  readonly to?: string;
  readonly groupBy?: string;
  readonly limit: number;
  readonly by: Counter;
}

interface Row extends Readonly<Record<Counter, number>> {
  readonly account_id: string;
  readonly sub_account_id: string | null;
  readonly name: string;
  readonly api_key_id?: string;
}

interface Report extends Listing<Row> {
  readonly from: string;
  readonly to: string;
}

const hourMs = 3_600_000;

/** `usage top`: the greatest users over all parents. It reads the whole report and keeps only the greatest lines. */
export function usageTopCommand(usage: Command, context: Context): void {
  usage
    .command('top')
    .description('the greatest users since the beginning of the last hour, or in a period')
    .usage('[--from <time>] [--to <time>] [options]')
    .addOption(new Option('--by <counter>', 'what counts').choices(counters).default('requests'))
    .action(async (_options: unknown, command: Command) => {
      refuseOthers(command, ['from', 'to', 'limit', 'groupBy']);
      // `--from`, `--to`, `--limit` and `--group-by` belong to `usage`, which takes them in any place.
      const options = command.optsWithGlobals<Options>();
      const { groupBy = 'account', limit, by } = options;
      const { from, to } = readPeriod(options);
      const query = new URLSearchParams({ group_by: groupBy, limit: '1000', from: from ?? lastHour() });
      if (to !== undefined) query.set('to', to);
      let top: readonly Row[] = [];
      let report: Report;
      let rows = 0;
      let total = 0;
      do {
        report = await context.api().call<Report>('GET', `/usage?${query.toString()}`);
        rows += report.data.length;
        for (const row of report.data) total += row[by];
        top = [...top, ...report.data].sort((a, b) => b[by] - a[by]).slice(0, limit);
        if (report.next_cursor !== null) query.set('cursor', report.next_cursor);
      } while (report.next_cursor !== null);
      const shown = top.filter((row) => row[by] > 0);
      const result = { from: report.from, to: report.to, by, total, rows, data: shown };
      context.output().result(result, () => show(shown, result));
    });
}

/**
 * Beginning of the hour before the present one, such as 09:00 at 10:20: at 10:01 the present hour would hold little.
 */
function lastHour(): string {
  return new Date(Math.floor(Date.now() / hourMs - 1) * hourMs).toISOString();
}

function show(
  rows: readonly Row[],
  {
    from,
    to,
    by,
    total,
  }: { readonly from: string; readonly to: string; readonly by: Counter; readonly total: number },
): string {
  const said = `From ${from} to ${to}; all together ${total}.`;
  if (rows.length === 0) return `There is no usage.\n\n${said}`;
  const byKey = rows.some((row) => row.api_key_id !== undefined);
  const lines = rows.map((row) => [
    row.sub_account_id ?? row.account_id,
    row.name,
    ...(byKey ? [row.api_key_id ?? ''] : []),
    String(row[by]),
    `${((100 * row[by]) / total).toFixed(1)} %`,
  ]);
  const headings = [
    'ACCOUNT',
    'NAME',
    ...(byKey ? ['KEY'] : []),
    by.replace('_', ' ').toUpperCase(),
    'SHARE',
  ];
  return [table(headings, lines), '', said].join('\n');
}
