#!/usr/bin/env node
// @ts-check
/**
 * `npm run weakened [-- PART OF A NAME]`: takes away the line that guards against each attack of test/security/, in a
 * copy of the project, and sees whether the attack's test fails as docs/maintainers/attacks.md says. Ends with 1 where one does not.
 * `--drawn N --seed TEXT` tries N of them, drawn by the text.
 */
import './lib/node-version.mjs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createHash } from 'node:crypto';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt } from './lib/build.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { inProject } from './lib/project.mjs';
import { run } from './lib/run.mjs';
import { findPostgres } from '../test/servers/find-postgres.mjs';
import { findRedis } from '../test/servers/find-redis.mjs';
import { startServersOfRun } from '../test/servers/servers-of-run.mjs';
import { register } from 'node:module';
import { runsTypeScript } from './typescript/native.mjs';

/** After so long without a line a test is ended; one that waits for a rejection that never comes waits for ever. */
const SILENT_MS = { waits: 60_000, usual: 180_000 };
const DID_NOT_END = 'it did not end';

/** So many at a time, each in a copy of its own: where a guard is gone, a test mostly waits. */
const AT_ONCE = 3;

await ensureInstalled();
await ensureBuilt();
if (!runsTypeScript) register('./typescript/hooks.mjs', import.meta.url);
/** @type {typeof import('../test/security/guard-mutations.ts')} */
const { guardCells, guardMutations, saidByGuard } = await import(
  inProject('test/security/guard-mutations.ts')
);
const { values, positionals } = parseArgs({
  options: { drawn: { type: 'string' }, seed: { type: 'string', default: '' } },
  allowPositionals: true,
});
const left = drawn(
  guardMutations.filter(
    ({ attack }) => positionals.length === 0 || positionals.some((part) => attack.includes(part)),
  ),
);
const documented = saidByGuard();
let unnoticed = 0;
console.log('| attack | the guard that was taken away | what the test said |\n|---|---|---|');
// The end-to-end tests run this beside servers of their own.
const servers = process.env['TEST_POSTGRES_URL'] ? undefined : startServersOfRun(findPostgres(), findRedis());
try {
  for (const [name, value] of Object.entries((await servers?.addresses()) ?? {}))
    if (value !== undefined) process.env[name] = value;
  await Promise.all(Array.from({ length: AT_ONCE }, tryInCopy));
} finally {
  await servers?.end();
}
if (unnoticed > 0) console.error(`${unnoticed} guards were not missed as docs/maintainers/attacks.md says.`);
process.exitCode = unnoticed > 0 ? 1 : 0;

/** Tries one after the other, until none is left. */
async function tryInCopy() {
  const copy = mkdtempSync(join(tmpdir(), 'tgw-guard-mutations-'));
  try {
    for (const name of [
      'src',
      'console',
      'dist',
      'test',
      'scripts',
      'config',
      'package.json',
      'tsconfig.json',
    ])
      cpSync(inProject(name), join(copy, name), { recursive: true });
    symlinkSync(inProject('node_modules'), join(copy, 'node_modules'));
    for (let mutation = left.shift(); mutation !== undefined; mutation = left.shift()) {
      const expected = documented.get(guardCells(mutation));
      const said = await tryOut(copy, mutation, expected === DID_NOT_END ? SILENT_MS.waits : SILENT_MS.usual);
      const other = !said.startsWith('not tried: ') && withoutFigures(said) !== withoutFigures(expected);
      if (other) unnoticed += 1;
      console.log(`${guardCells(mutation)} ${said} |${other ? ` not: ${expected} |` : ''}`);
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/**
 * @param {readonly import('../test/security/guard-mutations.ts').GuardMutation[]} all
 * @returns as many of them as `--drawn` asks for
 */
function drawn(all) {
  const count = Number(values.drawn ?? all.length);
  const rank = (/** @type {number} */ at) =>
    createHash('sha256').update(`${values.seed} ${at}`).digest('hex');
  const order = all.map((mutation, at) => ({ mutation, rank: rank(at) }));
  if (values.drawn !== undefined) order.sort((a, b) => (a.rank < b.rank ? -1 : 1));
  return order.slice(0, count).map(({ mutation }) => mutation);
}

/** How long something took, and how much there was of it, differs from run to run. @param {string} [said] */
function withoutFigures(said) {
  return said?.replace(/\d+/g, 'N');
}

/**
 * @param {string} copy
 * @param {import('../test/security/guard-mutations.ts').GuardMutation} mutation
 * @param {number} silentMs
 * @returns {Promise<string>} the first thing that failed, or why nothing did
 */
async function tryOut(copy, { attack, source, guard, instead }, silentMs) {
  const file = join(copy, source);
  const sound = readFileSync(file, 'utf8');
  if (sound.split(guard).length !== 2) throw new Error(`${source} does not hold once: ${guard}`);
  write(
    copy,
    source,
    sound.replace(guard, () => instead),
  );
  const said = await firstFailure(copy, attack, silentMs);
  write(copy, source, sound);
  return said.replaceAll('|', '\\|');
}

/**
 * Writes a source of a copy. Tests get the console as it is built, so its sources are built anew.
 * @param {string} copy
 * @param {string} source
 * @param {string} content
 */
function write(copy, source, content) {
  writeFileSync(join(copy, source), content);
  if (!source.startsWith('console/')) return;
  const build = "import('./scripts/lib/console.mjs').then(({ buildPages }) => buildPages())";
  run(process.execPath, ['-e', build], { cwd: copy });
}

/**
 * Runs the test of an attack until something of it fails.
 * @param {string} copy
 * @param {string} attack
 * @param {number} silentMs
 */
async function firstFailure(copy, attack, silentMs) {
  const file = `test/security/${attack}.test.ts`;
  const args = [process.execPath, '--import', './scripts/typescript/register.mjs', file];
  // tap's own limit for a test would make a failure of what only takes long.
  const env = { ...process.env, TAP_TIMEOUT: '0' };
  const child = spawn(process.execPath, [inProject('test/runner/process-group.mjs'), ...args], {
    cwd: copy,
    env,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const exit = once(child, 'exit');
  let [failed, skipped] = ['', ''];
  // The group of processes ends with its standard input.
  const end = (/** @type {string} */ said) => {
    failed ||= said;
    child.stdin.end();
  };
  const silence = setTimeout(() => end(DID_NOT_END), silentMs);
  for await (const line of createInterface({ input: child.stdout })) {
    silence.refresh();
    const name = /^ *not ok \d+ - (.*?)(?: # .*)?(?: \{)?$/.exec(line)?.[1];
    if (name !== undefined && !name.includes('.test.ts')) end(name);
    skipped ||= /# SKIP (.+)$/i.exec(line)?.[1] ?? '';
  }
  clearTimeout(silence);
  const [status] = await exit;
  if (failed !== '') return failed;
  if (status !== 0) return 'it broke off';
  return skipped === '' ? '**NOTHING**' : `not tried: ${skipped}`;
}
