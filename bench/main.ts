/** Measures the gateway beside what else could do its work. `scripts/bench.mjs` compiles and starts this. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compare } from './compare.ts';
import { root } from './lib/files.ts';
import { describeMachine, machineLine, quietLoad } from './machine.ts';
import { readOptions, usage, type Options } from './options.ts';
import { profileGateway } from './profile.ts';
import { compareBuilds } from './report/against.ts';
import { writeDocs } from './report/docs.ts';
import type { RunRecord } from './report/record.ts';
import { caseTable, disturbance, memoryTable } from './report/tables.ts';
import { scenarios } from './scenarios/all.ts';
import type { Case } from './scenarios/scenario.ts';

/** To start a target, fill its store and let it show that it holds the rule; roughly. */
const secondsToStart = 6;

/**
 * Runs what the command line asks for.
 *
 * @throws Error for a person to read
 */
export async function main(args: readonly string[]): Promise<void> {
  if (args.includes('--help')) return print(usage);
  const options = readOptions(args);
  if (options.profile !== undefined) return print(await profileGateway(options.profile, options));
  const record = options.from === undefined ? await measured(options) : read(options.from);
  if (record.builds === undefined) show(record, options.cases);
  else showBuilds(record, record.builds, options.cases);
  if (options.writeDocs) writeDocs(record, Object.values(scenarios).flat());
}

async function measured(options: Options): Promise<RunRecord> {
  announce(options);
  const record = await compare(options, progress);
  const dir = join(root, '.cache/bench');
  mkdirSync(dir, { recursive: true });
  const file = join(dir, `${record.began.replace(/[:.]/g, '-')}.json`);
  writeFileSync(file, `${JSON.stringify(record, null, 2)}\n`);
  progress(`Kept in ${file}`);
  return record;
}

function announce({ starts, rounds, seconds, only, against, cases }: Options): void {
  const machine = describeMachine();
  print(machineLine(machine));
  if (machine.load > quietLoad) print('WARNING: this machine is busy; what follows is noisy at best.');
  if (against !== undefined && (starts % 2 === 1 || starts * rounds < 4))
    print('WARNING: an odd number of starts or fewer than 4 rounds in all say little about two builds.');
  // With --against the two builds are in every start, the targets beside them in the first one.
  const turns = against === undefined ? starts * only.length : 2 * starts + only.length;
  const busy = cases.length * turns * (rounds + 1) * (seconds + 0.5);
  print(`About ${Math.ceil((busy + turns * secondsToStart) / 60)} minutes.`);
}

/** Sets the exit code to 1 where B is worse by more than its spread. */
function showBuilds(
  record: RunRecord,
  builds: readonly [a: string, b: string],
  cases: readonly Case[],
): void {
  const { text, rows, worse } = compareBuilds(cases, record, builds);
  print(
    `\n${record.targets.map(({ title, version, skipped }) => `${title} (${skipped ?? version})`).join('\n')}`,
  );
  const failed = record.results.filter(({ failure }) => failure !== undefined);
  const lines = failed.map((result) => `${result.target} failed in ${result.case}: ${result.failure}.`);
  print(
    ['', text, '', ...lines, disturbance(record) ?? 'No round was disturbed by other programs.'].join('\n'),
  );
  print(
    `B is worse by more than its spread in ${worse.length} of ${rows} rows${['', ...worse].join('\n- ')}`,
  );
  process.exitCode = worse.length > 0 ? 1 : 0;
}

function show(record: RunRecord, cases: readonly Case[]): void {
  print(
    `\n${record.targets.map(({ title, version, skipped }) => `${title}: ${skipped ?? version}`).join('\n')}`,
  );
  const measured = cases.filter(({ id }) => record.results.some((result) => result.case === id));
  for (const one of measured) print(`\n${one.title}\n\n${caseTable(one, record)}`);
  print(`\nMemory\n\n${memoryTable(record)}`);
  const disturbed = disturbance(record);
  if (disturbed !== undefined) print(`\nWARNING: ${disturbed}`);
}

function read(file: string): RunRecord {
  return JSON.parse(readFileSync(file, 'utf8')) as RunRecord;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function progress(line: string): void {
  process.stderr.write(`${line}\n`);
}
