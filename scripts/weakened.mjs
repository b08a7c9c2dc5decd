#!/usr/bin/env node
// @ts-check
/**
 * `npm run weakened [-- PART OF A NAME]`: takes away the line that guards against each attack of test/security/, in a
 * copy of the project, and sees whether the attack's test notices. Ends with 1 where one does not.
 */
import './lib/node-version.mjs';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureInstalled } from './lib/install.mjs';
import { inProject } from './lib/project.mjs';
import { register } from 'node:module';
import { runsTypeScript } from './typescript/native.mjs';

/** What a test file may take at most, in milliseconds. */
const LONGEST_MS = 150_000;

await ensureInstalled();
if (!runsTypeScript) register('./typescript/hooks.mjs', import.meta.url);
/** @type {typeof import('../test/security/guard-mutations.ts')} */
const { guardCells, guardMutations } = await import(inProject('test/security/guard-mutations.ts'));
const wanted = process.argv.slice(2);
const copy = mkdtempSync(join(tmpdir(), 'tgw-guard-mutations-'));
try {
  for (const name of ['src', 'test', 'scripts', 'config', 'package.json', 'tsconfig.json'])
    cpSync(inProject(name), join(copy, name), { recursive: true });
  symlinkSync(inProject('node_modules'), join(copy, 'node_modules'));
  let unnoticed = 0;
  console.log('| attack | the guard that was taken away | what the test said |\n|---|---|---|');
  for (const mutation of guardMutations) {
    if (wanted.length > 0 && !wanted.some((part) => mutation.attack.includes(part))) continue;
    const said = tryOut(mutation);
    if (said === undefined) unnoticed += 1;
    console.log(`${guardCells(mutation)} ${said ?? '**NOTHING**'} |`);
  }
  if (unnoticed > 0) console.error(`${unnoticed} attacks went unnoticed.`);
  process.exitCode = unnoticed > 0 ? 1 : 0;
} finally {
  rmSync(copy, { recursive: true, force: true });
}

/**
 * @param {import('../test/security/guard-mutations.ts').GuardMutation} mutation
 * @returns {string | undefined} the first thing that failed
 */
function tryOut({ attack, source, guard, instead }) {
  const file = join(copy, source);
  const sound = readFileSync(file, 'utf8');
  if (sound.split(guard).length !== 2) throw new Error(`${source} does not hold once: ${guard}`);
  const began = performance.now();
  const before = runAttack(attack, LONGEST_MS);
  if (before.status !== 0) throw new Error(`${attack} fails with its guard in place:\n${before.stdout}`);
  const soundMs = performance.now() - began;
  writeFileSync(
    file,
    sound.replace(guard, () => instead),
  );
  // A test that waits for a rejection that never comes waits for ever; one on a busy machine only takes longer.
  const run = runAttack(attack, Math.min(LONGEST_MS, Math.round(10_000 + 10 * soundMs)));
  writeFileSync(file, sound);
  if (run.status === 0) return undefined;
  const failed = [...run.stdout.matchAll(/^( *)not ok \d+ - (.*?)(?: # .*)?(?: \{)?$/gm)]
    .map(([, , name = '']) => name)
    .find((name) => !name.includes('.test.ts'));
  return (failed ?? (run.signal ? 'it did not end' : 'it broke off')).replaceAll('|', '\\|');
}

/**
 * @param {string} attack
 * @param {number} timeout milliseconds
 */
function runAttack(attack, timeout) {
  const args = ['--import', './scripts/typescript/register.mjs', `test/security/${attack}.test.ts`];
  // tap's own limit for a test would make a failure of what only takes long.
  const env = { ...process.env, TAP_TIMEOUT: '0' };
  return spawnSync(process.execPath, args, { cwd: copy, encoding: 'utf8', timeout, env });
}
