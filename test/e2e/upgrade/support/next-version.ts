/** A made-up version that comes after this one: this one's build with another schema and a higher level. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dist as ownDist, tempFolder } from '../../../support/process.ts';
import type { Scope } from '../../../support/servers.ts';

const project = join(ownDist, '..');

export interface NextVersion {
  readonly dist: string;
  /** Number of its functions, one above this version's. */
  readonly functions: number;
}

/** Lines by which a dump of the next version's schema differs from one of this version's. */
export const differences = {
  removed: [] as string[],
  added: ['    note text,', '  perform fleet_check(2);'],
};

/**
 * Makes the next version. It has one more column and can enforce plans, which it therefore refuses to write while a
 * replica of this version is registered. In Redis it adds a member to its facts about keys, and gives those about
 * accounts another form. The build goes away with the test.
 */
export function makeNextVersion(t: Scope): NextVersion {
  const folder = tempFolder(t);
  const dist = join(folder, 'dist');
  cpSync(ownDist, dist, { recursive: true });
  symlinkSync(join(project, 'node_modules'), join(folder, 'node_modules'));
  const about = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as object;
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...about, version: '1.1.0' }));

  const schema = join(dist, 'adapters/postgres/schema');
  mkdirSync(join(schema, 'steps'), { recursive: true });
  const own = readdirSync(join(schema, 'steps')).length;
  writeFileSync(
    join(schema, 'steps', `${String(own + 1).padStart(4, '0')}_note.sql`),
    `-- compatible with: ${own}\nalter table account add column note text;\n`,
  );

  const begins = '  select b.outcome into outcome from change_begin(request) b;\n';
  replace(join(schema, 'functions/plans/plan_put.sql'), begins, `${begins}  perform fleet_check(2);\n`);
  const { number } = JSON.parse(readFileSync(join(schema, 'functions.json'), 'utf8')) as { number: number };
  writeFileSync(join(schema, 'functions.json'), JSON.stringify({ number: number + 1 }));

  replaceInBundle(dist, 'var level = 1;\n', 'var level = 2;\n');
  const written = '{ v: version, s: seq, i: incarnation, f: value }';
  const account = '"status" in Object(value) ? { v: 2, s: seq, i: incarnation, account: value } :';
  replaceInBundle(
    dist,
    `return JSON.stringify(${written});`,
    `if ("keyId" in Object(value)) value = { ...value, note: null };
     return JSON.stringify(${account} ${written});`,
  );
  replaceInBundle(dist, '!isObject(read) || read["v"] !== version', '!isObject(read) || read["v"] > 2');
  replaceInBundle(dist, 'i: incarnation, f } = read;', 'i: incarnation, f = read["account"] } = read;');
  return { dist, functions: number + 1 };
}

/** Runs `migrate` of a build on the database at `url`. */
export function migrateWith(dist: string, url: string): void {
  const env = { PATH: process.env['PATH'], DATABASE_URL: url };
  execFileSync(process.execPath, [join(dist, 'cli.js'), 'migrate'], { env, stdio: 'pipe' });
}

function replaceInBundle(dist: string, from: string, to: string): void {
  const bundles = readdirSync(dist).filter((file) => file.endsWith('.js'));
  const holders = bundles.filter((file) => readFileSync(join(dist, file), 'utf8').includes(from));
  if (holders.length !== 1) throw new Error(`${holders.length} bundles have ${from.trim()}`);
  replace(join(dist, String(holders[0])), from, to);
}

function replace(file: string, from: string, to: string): void {
  const [before, after, ...more] = readFileSync(file, 'utf8').split(from);
  if (after === undefined || more.length > 0) throw new Error(`${file} has not one ${from.trim()}`);
  writeFileSync(file, `${String(before)}${to}${after}`);
}
