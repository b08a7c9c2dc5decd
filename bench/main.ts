/** Measures the gateway beside what else could do its work. `scripts/bench.mjs` compiles and starts this. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compare } from './compare.ts';
import { root } from './lib/files.ts';
import { describeMachine, machineLine, quietLoad } from './machine.ts';
import { readOptions, usage, type Options } from './options.ts';
import { profileGateway } from './profile.ts';
import { writeDocs } from './report/docs.ts';
import type { RunRecord } from './report/record.ts';
import { caseTable, disturbance, memoryTable } from './report/tables.ts';
import { scenarios } from './scenarios/all.ts';
import type { Case } from './scenarios/scenario.ts';

/**
 * Runs what the command line asks for.
 *
 * @throws Error for a person to read
 */
export async function main(args: readonly string[]): Promise<void> {
  if (args.includes('--help')) return print(usage);
  const options = readOptions(args);
  if (options.profile !== undefined) return print(await profileGateway(options.profile, options));
  const cases = options.scenario.flatMap((name) => scenarios[name] ?? []);
  const record = options.from === undefined ? await measured(options, cases) : read(options.from);
  show(record, cases);
  if (options.writeDocs) writeDocs(record, Object.values(scenarios).flat());
}

async function measured(options: Options, cases: readonly Case[]): Promise<RunRecord> {
  announce(options, cases);
  const record = await compare(options, cases, progress);
  const dir = join(root, '.cache/bench');
  mkdirSync(dir, { recursive: true });
  const file = join(dir, `${record.began.replace(/[:.]/g, '-')}.json`);
  writeFileSync(file, `${JSON.stringify(record, null, 2)}\n`);
  progress(`Kept in ${file}`);
  return record;
}

function announce({ rounds, seconds, only }: Options, cases: readonly Case[]): void {
  const machine = describeMachine();
  print(machineLine(machine));
  if (machine.load > quietLoad) print('WARNING: this machine is busy; what follows is noisy at best.');
  const turns = cases.length * only.length;
  print(`About ${Math.ceil((turns * ((rounds + 1) * (seconds + 0.5)) + 15) / 60)} minutes.`);
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
