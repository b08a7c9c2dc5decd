import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { apiKeyReader } from '../../domain/api-key.ts';
import { uuidV7 } from '../../domain/ids.ts';
import type { Context } from '../context.ts';
import { exitCode, Failure } from '../failure.ts';
import { printable, table } from '../output.ts';
import { commandConfig } from '../target.ts';
import { Applying, type Tally } from './apply.ts';
import { checkFile, type CheckedFile } from './check.ts';
import { inThousands, Progress } from './progress.ts';
import { Report } from './report.ts';
import { formatOf, rowTypes, type RowFile, type RowType } from './rows.ts';

interface ImportCommandOptions {
  readonly format?: string;
  readonly type?: string;
  readonly plan?: true;
  readonly dryRun?: true;
  readonly report?: string;
}

/**
 * Milliseconds for which a call is retried while the gateway is busy or unreachable. A roll-out may leave the gateway
 * without a ready replica, but for less than `patienceMs`.
 */
const patienceMs = 300_000;
/** Maximum number of faults to show, since every row may have one. */
const mostFaults = 1_000;

const labels: Readonly<Record<RowType, string>> = {
  account: 'accounts',
  sub_account: 'sub-accounts',
  api_key: 'keys',
};

/** `import FILE`: imports parents, sub-accounts and keys from a file. */
export function importCommand(program: Command, context: Context): void {
  program
    .command('import')
    .description('import parent accounts, sub-accounts and keys from a file; may be repeated')
    .argument('<file>', 'CSV or JSON lines (docs/import.md says which columns)')
    .option('--format <format>', 'csv or jsonl, if the file name does not end in either')
    .option('--type <type>', 'type of the rows that have none: account, sub_account or api_key')
    .option('--dry-run', 'show what would be done, and change nothing')
    .option('--plan', 'the same')
    .option('--report <file>', 'write the rows left out, and why, to this file: one JSON object a line')
    .action(async (path: string, options: ImportCommandOptions) => {
      const file: RowFile = {
        path,
        format: formatOf(path, options.format),
        ...(options.type !== undefined && { type: rowType(options.type) }),
      };
      await runImport(file, options, context);
    });
}

function rowType(text: string): RowType {
  const type = rowTypes.find((each) => each === text);
  if (type === undefined) throw new Failure(exitCode.usage, `--type must be one of ${rowTypes.join(', ')}.`);
  return type;
}

async function runImport(file: RowFile, options: ImportCommandOptions, context: Context): Promise<void> {
  const nowMs = Date.now();
  const { keys } = commandConfig(context.env);
  const rules = {
    readApiKey: apiKeyReader(keys.prefix),
    keyPrefix: keys.prefix,
    nowMs,
    newId: () => uuidV7(nowMs, randomBytes(10)),
  };
  const checked = await checkFile(file, rules);
  if (checked.faults.length > 0) throw faulty(file, checked);

  const isPlan = options.plan === true || options.dryRun === true;
  const api = context.api();
  // This call is not retried, so an unreachable gateway or a wrong token ends the import at once. Later calls wait for
  // the gateway.
  await api.call('GET', '/accounts?limit=1');
  const report = await Report.open(options.report);
  const progress = new Progress(context.stderr);
  const applying = new Applying({
    ...{ api, isPlan, nowMs, report, names: checked.names },
    patience: {
      forMs: patienceMs,
      onWait: (seconds, reason) => progress.note(`Waiting for ${seconds} s: ${reason}`),
    },
    onSlow: (rows) =>
      progress.note(
        `The database was too slow for that many rows at once: ${inThousands(rows)} a call from here on.`,
      ),
    onRows: (rows) => progress.add(rows),
  });
  const tallies: Partial<Record<RowType, Tally>> = {};
  try {
    for (const type of rowTypes) {
      if (checked.counts[type] === 0) continue;
      progress.begin(labels[type], checked.counts[type]);
      tallies[type] = await applying.rows(file, type);
      progress.end();
    }
  } catch (error) {
    throw interrupted(error);
  } finally {
    await report.close();
  }
  const result = {
    plan: isPlan,
    ...Object.fromEntries(rowTypes.map((type) => [`${type}s`, tallies[type] ?? noRows])),
    left_out: report.count,
  };
  context.output().result(result, () => show(tallies, report, isPlan, options.report));
  await report.checkWritten();
  if (!isPlan) report.refuse();
}

const noRows: Tally = { created: 0, updated: 0, unchanged: 0, left_out: 0 };

/** Makes the error that lists the faults of a file. */
export function faulty({ path }: RowFile, { faults }: CheckedFile): Failure {
  const lines = faults.slice(0, mostFaults).map(({ line, text }) => `\n  line ${line}: ${text}`);
  const more = faults.length > mostFaults ? `\n  and ${inThousands(faults.length - mostFaults)} more` : '';
  const count = faults.length === 1 ? 'a fault' : `${inThousands(faults.length)} faults`;
  return new Failure(
    exitCode.failed,
    `${path} has ${count}:${lines.join('')}${more}`,
    'Nothing was sent. Correct the file and run this again.',
    { faults: faults.slice(0, mostFaults) },
  );
}

function interrupted(error: unknown): unknown {
  if (!(error instanceof Failure)) return error;
  const hint = 'Run the same command again: finished rows count as unchanged.';
  return new Failure(error.code, error.message, [error.hint, hint].filter(Boolean).join('\n'), error.details);
}

function show(
  tallies: Readonly<Partial<Record<RowType, Tally>>>,
  report: Report,
  isPlan: boolean,
  path: string | undefined,
): string {
  const rows = rowTypes.flatMap((type) => {
    const { created, updated, unchanged, left_out: leftOut } = tallies[type] ?? noRows;
    const counts = [created, updated, unchanged, leftOut].map(inThousands);
    return tallies[type] === undefined ? [] : [[labels[type], ...counts]];
  });
  const heads = isPlan
    ? ['', 'TO CREATE', 'TO UPDATE', 'UNCHANGED', 'TO LEAVE OUT']
    : ['', 'CREATED', 'UPDATED', 'UNCHANGED', 'LEFT OUT'];
  const lineOf = ({ line, reason }: { readonly line: number; readonly reason: string }): string =>
    `  line ${line}: ${printable(reason)}`;
  const left = report.shown.map(lineOf);
  const more = report.count - report.shown.length;
  if (more > 0) left.push(`  and ${inThousands(more)} more: ${path ?? 'name a file for them by --report'}`);
  const kept = report.notes.map(lineOf);
  const moreKept = report.noteCount - report.notes.length;
  if (moreKept > 0) kept.push(`  and ${inThousands(moreKept)} more`);
  const parts = [rows.length === 0 ? 'The file has no rows.' : table(heads, rows)];
  if (left.length > 0) parts.push(`Left out:\n${left.join('\n')}`);
  if (kept.length > 0) parts.push(`Unchanged, but not as in the file:\n${kept.join('\n')}`);
  if (isPlan) parts.push('Dry run: nothing was changed. Run without --dry-run to apply.');
  return parts.join('\n\n');
}
