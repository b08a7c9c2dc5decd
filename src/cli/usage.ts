import { Option, type Command } from 'commander';
import type { Context } from './context.ts';
import type { Listing } from './operator-api.ts';
import { table } from './output.ts';
import { moreNote, pageOptions, pageQuery, type PageOptions } from './pages.ts';

interface Options extends PageOptions {
  readonly from?: string;
  readonly to?: string;
  readonly granularity?: string;
  readonly groupBy?: string;
}

interface Row {
  readonly account_id: string;
  readonly sub_account_id: string | null;
  readonly name: string;
  readonly api_key_id?: string;
  readonly period_start: string;
  readonly requests: number;
  readonly writes: number;
  readonly client_errors: number;
  readonly server_errors: number;
}

interface Report extends Listing<Row> {
  readonly from: string;
  readonly to: string;
  readonly complete_through: string;
}

/** `usage`: the usage report, over all parents or one. */
export function usageCommand(program: Command, context: Context): void {
  pageOptions(
    program
      .command('usage')
      .description('what was asked of the gateway, over all parent accounts or one')
      .argument('[account-id]')
      .option('--from <time>', 'RFC 3339 date or time, UTC (start of this month)')
      .option('--to <time>', 'not after this one (now)')
      .addOption(
        new Option('--granularity <unit>', 'one line for each').choices(['hour', 'day', 'month', 'total']),
      )
      .addOption(
        new Option('--group-by <what>', 'one line for each')
          .choices(['account', 'sub_account', 'api_key'])
          .default('account'),
      ),
  ).action(async (id: string | undefined, options: Options) => {
    const query = new URLSearchParams(pageQuery(options));
    const { from, to, granularity, groupBy } = options;
    for (const [name, value] of Object.entries({ account_id: id, from, to, granularity, group_by: groupBy }))
      if (value !== undefined) query.set(name, value);
    const report = await context.api().call<Report>('GET', `/usage?${query.toString()}`);
    context.output().result(report, () => show(report));
  });
}

function show(report: Report): string {
  const said = `From ${report.from} to ${report.to}; complete through ${report.complete_through}.`;
  if (report.data.length === 0) return `There is no usage.\n\n${said}`;
  const byKey = report.data.some((row) => row.api_key_id !== undefined);
  const rows = report.data.map((row) => [
    row.sub_account_id ?? row.account_id,
    row.name,
    ...(byKey ? [row.api_key_id ?? ''] : []),
    row.period_start,
    ...[row.requests, row.writes, row.client_errors, row.server_errors].map(String),
  ]);
  const headings = ['REQUESTS', 'WRITES', 'CLIENT ERRORS', 'SERVER ERRORS'];
  return [
    table(['ACCOUNT', 'NAME', ...(byKey ? ['KEY'] : []), 'FROM', ...headings], rows) + moreNote(report),
    '',
    said,
  ].join('\n');
}
