import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { ownSubAccountRows } from '../../api/operator/import/requests.ts';
import { managementPath } from '../../domain/paths.ts';
import type { Context } from '../context.ts';
import { exitCode, Failure } from '../failure.ts';
import { noKeys } from '../import/apply.ts';
import { checkFile, type CheckedFile } from '../import/check.ts';
import { faulty } from '../import/command.ts';
import { inThousands } from '../import/progress.ts';
import { Report } from '../import/report.ts';
import { formatOf, rowKinds, type RowFile } from '../import/rows.ts';
import { gatewayApi } from '../operator-api.ts';
import type { SubAccount } from '../../generated/operator-types.ts';
import { printable, table } from '../output.ts';
import { commandConfig, originIn } from '../target.ts';
import { originOf } from '../../wiring/welcome.ts';
import { PresentSubAccounts } from './plan.ts';
import { Sync, type Counts } from './sync.ts';

interface SyncOptions {
  readonly format?: string;
  readonly plan?: true;
  readonly dryRun?: true;
  readonly deactivateMissing?: true;
  readonly report?: string;
  readonly gateway?: string;
  readonly stdin?: true;
}

/** Maximum number of missing sub-accounts to show by name. */
const mostShown = 20;
const keyVariable = 'TENANCY_GATEWAY_API_KEY';

/** `sync FILE`: makes a parent's sub-accounts match a list, using the parent's own key. */
export function syncCommand(program: Command, context: Context): void {
  program
    .command('sync')
    .description(`make your sub-accounts equal to a list, with your API key (${keyVariable}, or --stdin)`)
    .argument('<file>', 'CSV or JSON lines: external_id, name, metadata.<key>')
    .option('--gateway <url>', 'public address of the gateway (otherwise HOST and PORT)')
    .option('--stdin', 'read the API key from standard input')
    .option('--format <format>', 'csv or jsonl, if the file name does not end in either')
    .option('--dry-run', 'show what would be done, and change nothing')
    .option('--plan', 'the same')
    .option(
      '--deactivate-missing',
      'deactivate sub-accounts that have an external_id and are not in the file',
    )
    .option('--report <file>', 'write the rows left out, and why, to this file: one JSON object a line')
    .action((path: string, options: SyncOptions) => runSync(path, options, context));
}

async function runSync(path: string, options: SyncOptions, context: Context): Promise<void> {
  const file: RowFile = { path, format: formatOf(path, options.format), type: 'sub_account' };
  const checked = await checkFile(file, noKeys, { ...rowKinds, sub_account: ownSubAccountRows });
  refuseOthers(file, checked);
  if (checked.counts.sub_account === 0 && options.deactivateMissing)
    throw new Failure(exitCode.failed, `${path} has no rows: all sub-accounts would be deactivated.`);

  const token = await readKey(context, options.stdin === true);
  const api = gatewayApi(
    { url: addressOf(context.env, options.gateway), token, enforcedHeader: 'x-service-enforced' },
    managementPath,
    hints,
  );
  const sync = new Sync(api, file, checked, await PresentSubAccounts.read(api), context.stderr);
  const isPlan = options.plan === true || options.dryRun === true;
  const report = await Report.open(options.report);
  const counts = await sync
    .run(isPlan, options.deactivateMissing === true, report)
    .finally(() => report.close());
  context
    .output()
    .result({ plan: isPlan, ...counts, missing: counts.missing.map(nameOf) }, () =>
      show(counts, report, isPlan),
    );
  await report.checkWritten();
  report.refuse();
}

function refuseOthers(file: RowFile, checked: CheckedFile): void {
  if (checked.faults.length > 0) throw faulty(file, checked);
  const { account, api_key: keys } = checked.counts;
  if (account + keys > 0)
    throw new Failure(
      exitCode.failed,
      `${file.path} holds more than sub-accounts: \`import\` is for operators.`,
    );
}

/** Reads the API key from standard input or {@link keyVariable}. @throws {Failure} if it is missing or malformed */
async function readKey({ env, stdin }: Context, fromInput: boolean): Promise<string> {
  const key = fromInput ? (await text(stdin)).trim() : env[keyVariable];
  if (key !== undefined && /^[!-~]+$/.test(key)) return key;
  throw new Failure(
    exitCode.notAllowed,
    fromInput ? 'Standard input must hold one API key and nothing else.' : 'There is no API key.',
    `Set ${keyVariable} to a key of the parent account with the scopes sub_accounts:read and sub_accounts:write, or give it by --stdin.`,
  );
}

function addressOf(env: NodeJS.ProcessEnv, given: string | undefined): string {
  if (given === undefined) {
    const { host, port, tls } = commandConfig(env).listen;
    return originOf(tls ? 'https' : 'http', { host, port });
  }
  return originIn(given, '--gateway', 'https://api.example.com');
}

const hints: Readonly<Record<string, string>> = {
  unreachable: 'Name the public address of the gateway: --gateway, or HOST and PORT.',
  'not-a-gateway': 'Is this the public address of the gateway (--gateway)?',
  parent_key_required: 'Sub-accounts are managed with a key of their parent.',
};

function nameOf({ external_id: externalId }: SubAccount): string | null {
  return externalId;
}

function show(counts: Counts, report: Report, isPlan: boolean): string {
  const { created, updated, unchanged, deactivated, missing, unnamed, left_out: leftOut } = counts;
  const heads = isPlan
    ? ['TO CREATE', 'TO UPDATE', 'UNCHANGED', 'TO DEACTIVATE']
    : ['CREATED', 'UPDATED', 'UNCHANGED', 'DEACTIVATED', 'LEFT OUT'];
  const numbers = [created, updated, unchanged, deactivated, leftOut].slice(0, heads.length);
  const parts = [table(heads, [numbers.map(inThousands)])];
  if (report.shown.length > 0)
    parts.push(
      `Left out:\n${report.shown.map(({ line, reason }) => `  line ${line}: ${printable(reason)}`).join('\n')}`,
    );
  if (counts.deactivated_in_file > 0)
    parts.push(
      `${inThousands(counts.deactivated_in_file)} in the file are deactivated and stay deactivated.`,
    );
  if (missing.length > 0 && deactivated === 0) {
    const names = missing
      .slice(0, mostShown)
      .map((account) => printable(nameOf(account) ?? ''))
      .join(', ');
    const more = missing.length > mostShown ? ', …' : '';
    parts.push(
      `${inThousands(missing.length)} are active and not in the file (--deactivate-missing): ${names}${more}`,
    );
  }
  if (unnamed > 0) parts.push(`${inThousands(unnamed)} have no external_id, and are left alone.`);
  if (isPlan) parts.push('Dry run: nothing was changed. Run without --dry-run to apply.');
  return parts.join('\n\n');
}
