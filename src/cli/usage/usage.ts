import { once } from 'node:events';
import { Option, type Command } from 'commander';
import { hourMs } from '../../domain/usage.ts';
import type { Context } from '../context.ts';
import { accountFilters, accountForms } from '../find-account.ts';
import { exitCode, Failure } from '../failure.ts';
import type { UsageReport } from '../../generated/operator-types.ts';
import { printable, table } from '../output.ts';
import { usageExportCommand } from './export.ts';
import { usageForgetCommand } from './forget.ts';
import { moreNote, pageOptions, readList, type PageOptions } from '../pages.ts';
import { pastForms, readPeriod, repeatable } from '../times.ts';

interface Options extends PageOptions {
  readonly from?: string;
  readonly to?: string;
  readonly granularity?: string;
  readonly groupBy?: string;
  readonly subAccount?: string;
  readonly csv?: true;
}

/** `usage`: shows the usage of one or all parent accounts. */
export function usageCommand(program: Command, context: Context): void {
  const usage = pageOptions(
    program
      .command('usage')
      .description('usage of all parent accounts or of one')
      .argument('[account-id]', accountForms)
      .option('--from <time>', `${pastForms} (start of this month)`)
      .option('--to <time>', 'not after this one (now)')
      .addOption(
        new Option('--granularity <unit>', 'one line for each').choices(['hour', 'day', 'month', 'total']),
      )
      .addOption(
        new Option('--group-by <what>', 'one line for each')
          .choices(['account', 'sub_account', 'api_key'])
          .default('account'),
      )
      .option('--sub-account <id>', 'only the requests of this account itself')
      .option('--csv', 'write all lines of the report as CSV'),
  ).action(async (id: string | undefined, options: Options) => {
    const { granularity, groupBy: group_by, subAccount } = options;
    const accounts = await accountFilters(context, id, subAccount);
    // A CSV report covers only whole hours, so relative times are rounded down to the hour.
    const period = readPeriod(options, options.csv === true ? hourMs : 1);
    const filters = { ...accounts, ...period, granularity, group_by };
    if (options.csv === true) return writeCsv(context, filters);
    const report = await readList<UsageReport>(context, '/usage', options, filters);
    context.output().result(report, () => show(report, repeatable(options, period)));
  });
  usageExportCommand(usage, context);
  usageForgetCommand(usage, context);
}

async function writeCsv(
  context: Context,
  filters: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filters)) if (value !== undefined) query.set(name, value);
  const { stdout } = context;
  const lines = await context.api().read(`/usage?${query.toString()}`, 'text/csv');
  try {
    for await (const chunk of lines) if (!stdout.write(chunk)) await once(stdout, 'drain');
  } catch {
    throw new Failure(
      exitCode.unreachable,
      'The report was cut off, so the output is incomplete.',
      'Run it again. The log of the gateway says why.',
    );
  }
}

function show(report: UsageReport, times: string): string {
  const missing = report.incomplete ? ' Counts of a lost replica may be missing.' : '';
  const { silent } = report;
  const names = silent.length === 0 ? '' : ` Silent replicas: ${silent.join(', ')}.`;
  const said = `From ${report.from} to ${report.to}; complete through ${report.complete_through}.${missing}${names}`;
  if (report.data.length === 0) return `There is no usage.\n\n${said}`;
  const byKey = report.data.some((row) => row.api_key_id !== undefined);
  const rows = report.data.map((row) => [
    row.sub_account_id ?? row.account_id,
    printable(row.name ?? '(deleted)'),
    ...(byKey ? [row.api_key_id ?? ''] : []),
    row.period_start,
    ...[row.requests, row.writes, row.client_errors, row.server_errors].map(String),
  ]);
  const headings = ['REQUESTS', 'WRITES', 'CLIENT ERRORS', 'SERVER ERRORS'];
  return [
    table(['ACCOUNT', 'NAME', ...(byKey ? ['KEY'] : []), 'FROM', ...headings], rows) +
      moreNote(report, times),
    '',
    said,
  ].join('\n');
}
