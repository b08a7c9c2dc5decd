#!/usr/bin/env node
// @ts-check
/**
 * `npm run weakened [-- PART OF A NAME]`: takes away the line that guards against each attack of test/security/, in a
 * copy of the project, and sees whether the attack's test notices. Ends with 1 where one does not.
 */
import './lib/node-version.mjs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
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

/** What a test file may take at most, in milliseconds. */
const LONGEST_MS = 600_000;

/** So many at a time, each in a copy of its own: where a guard is gone, a test mostly waits. */
const AT_ONCE = 3;

await ensureInstalled();
await ensureBuilt();
if (!runsTypeScript) register('./typescript/hooks.mjs', import.meta.url);
/** @type {typeof import('../test/security/guard-mutations.ts')} */
const { guardCells, guardMutations } = await import(inProject('test/security/guard-mutations.ts'));
const wanted = process.argv.slice(2);
const left = guardMutations.filter(
  ({ attack }) => wanted.length === 0 || wanted.some((part) => attack.includes(part)),
);
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
if (unnoticed > 0) console.error(`${unnoticed} attacks went unnoticed.`);
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
      const said = await tryOut(copy, mutation);
      if (said === undefined) unnoticed += 1;
      console.log(`${guardCells(mutation)} ${said ?? '**NOTHING**'} |`);
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/**
 * @param {string} copy
 * @param {import('../test/security/guard-mutations.ts').GuardMutation} mutation
 * @returns {Promise<string | undefined>} the first thing that failed, or why it was not tried; `undefined` if nothing failed
 */
async function tryOut(copy, { attack, source, guard, instead }) {
  const file = join(copy, source);
  const sound = readFileSync(file, 'utf8');
  if (sound.split(guard).length !== 2) throw new Error(`${source} does not hold once: ${guard}`);
  const began = performance.now();
  const before = await runAttack(copy, attack, LONGEST_MS);
  if (before.status !== 0) throw new Error(`${attack} fails with its guard in place:\n${before.stdout}`);
  const soundMs = performance.now() - began;
  write(
    copy,
    source,
    sound.replace(guard, () => instead),
  );
  // A test that waits for a rejection that never comes waits for ever; one on a busy machine only takes longer.
  const after = await runAttack(copy, attack, Math.min(LONGEST_MS, Math.round(10_000 + 10 * soundMs)));
  write(copy, source, sound);
  const skipped = /# SKIP (.+)$/im.exec(after.stdout)?.[1];
  if (after.status === 0) return skipped && `not tried: ${skipped}`;
  const failed = [...after.stdout.matchAll(/^( *)not ok \d+ - (.*?)(?: # .*)?(?: \{)?$/gm)]
    .map(([, , name = '']) => name)
    .find((name) => !name.includes('.test.ts'));
  return (failed ?? (after.signal ? 'it did not end' : 'it broke off')).replaceAll('|', '\\|');
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
 * @param {string} copy
 * @param {string} attack
 * @param {number} timeout milliseconds
 */
async function runAttack(copy, attack, timeout) {
  const args = ['--import', './scripts/typescript/register.mjs', `test/security/${attack}.test.ts`];
  // tap's own limit for a test would make a failure of what only takes long.
  const env = { ...process.env, TAP_TIMEOUT: '0' };
  const child = spawn(process.execPath, args, {
    cwd: copy,
    timeout,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = once(child, 'close');
  const stdout = await text(child.stdout);
  const [status, signal] = await ended;
  return { status, signal, stdout };
}
