// @ts-check
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildPages, CONSOLE } from './console.mjs';
import { ensureGenerated } from './generated.mjs';
import { alone } from './lock.mjs';
import {
  CONSOLE_FILES,
  copyAssets,
  DIST,
  everySourceIsCompiled,
  markExecutables,
  newest,
  PORTAL_FILES,
  removeOrphans,
  SRC,
} from './output.mjs';
import { inProject } from './project.mjs';
import { run } from './run.mjs';
import { say } from './say.mjs';

/** Its time says when the last good build began. */
const STAMP = join(DIST, '.built');
/** Read by src/wiring/version.ts. */
const COMMIT = join(DIST, 'commit');
/** What the compiler remembers between builds; beside its output, so that both are removed together. */
const MEMORY = join(DIST, '.tsbuildinfo');
const INPUT = [
  SRC,
  CONSOLE,
  ...['package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'tsconfig.client.json'].map(inProject),
];

/**
 * Builds if anything is newer than the last good build. Types are left to `npm run check` and `npm run build`, which
 * halves the time.
 */
export async function ensureBuilt() {
  await ensureGenerated();
  if (isBuilt()) return;
  await alone(async () => {
    if (!isBuilt()) await compile(['--noCheck']);
  });
}

/** Builds in any case, and fails on a type error. */
export async function build() {
  await ensureGenerated();
  return alone(() => compile([]));
}

/**
 * Leaves the commit in the build, for the version of unreleased ones. Without Git, such as in the image, `REVISION` has it.
 */
function nameCommit() {
  const git = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: inProject('.'), encoding: 'utf8' });
  const commit = process.env['REVISION'] || (git.status === 0 ? git.stdout : '');
  rmSync(COMMIT, { force: true });
  if (commit !== '') writeFileSync(COMMIT, commit.slice(0, 12));
}

function isBuilt() {
  return (
    existsSync(STAMP) &&
    [CONSOLE_FILES, PORTAL_FILES].every((folder) => existsSync(join(folder, 'index.html'))) &&
    statSync(STAMP).mtimeMs >= newest(INPUT)
  );
}

/** @param {string[]} options for the compiler */
async function compile(options) {
  say('Building ...');
  const began = new Date();
  rmSync(STAMP, { force: true });
  // The compiler writes what changed since last time, and would not notice that its output was removed.
  if (!everySourceIsCompiled()) rmSync(MEMORY, { force: true });

  const tsc = inProject('node_modules/typescript/bin/tsc');
  const args = [tsc, '-p', 'tsconfig.build.json', '--incremental', '--tsBuildInfoFile', MEMORY, ...options];
  try {
    run(process.execPath, args, { cwd: inProject('.') });
    // What programs import of this package has types.
    run(process.execPath, [tsc, '-p', 'tsconfig.client.json', '--noCheck'], { cwd: inProject('.') });
  } catch {
    throw new Error('The sources do not compile.');
  } finally {
    copyAssets();
    removeOrphans();
    markExecutables();
  }

  await buildPages();
  nameCommit();
  writeFileSync(STAMP, '');
  // What was edited during the build has to count as newer.
  utimesSync(STAMP, began, began);
  say(`Built in ${((Date.now() - began.getTime()) / 1000).toFixed(1)} s.`);
}
