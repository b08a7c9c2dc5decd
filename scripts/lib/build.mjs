// @ts-check
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundle } from './bundle.mjs';
import { buildPages, CONSOLE } from './console.mjs';
import { ensureGenerated } from './generated.mjs';
import { alone } from './lock.mjs';
import { copyAssets, DIST, markExecutables, newest, SRC } from './output.mjs';
import { inProject } from './project.mjs';
import { run } from './run.mjs';
import { during } from './say.mjs';

/** Its time says when the last good build began. */
const STAMP = join(DIST, '.built');
/** What programs import of this package. */
const CLIENT = join(DIST, 'client/client.d.ts');
/** Read by src/wiring/version.ts. */
const COMMIT = join(DIST, 'commit');
const INPUT = [
  SRC,
  CONSOLE,
  ...['package-lock.json', 'tsconfig.json', 'tsconfig.client.json', 'scripts/lib'].map(inProject),
];

/**
 * Builds what is older than its sources, without looking at types: `npm run check` and `npm run build` do.
 * @param {{ client?: boolean }} [parts] whether the client for programs is wanted, too: the gateway runs without it
 */
export async function ensureBuilt({ client = true } = {}) {
  await ensureGenerated();
  if (isBuilt(client)) return;
  await alone(async () => {
    if (!isBuilt(false)) await makeGateway();
    if (client && !existsSync(CLIENT)) makeClient();
  });
}

/** Builds everything in any case, and fails on a type error. */
export async function build() {
  await ensureGenerated();
  await alone(async () => {
    compile('tsconfig.build.json');
    await makeGateway();
    makeClient();
  });
}

/**
 * Leaves the commit in the build, for the version of unreleased ones. Without Git, such as in the image, `REVISION` has it.
 */
function nameCommit() {
  const git = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: inProject('.'), encoding: 'utf8' });
  const commit = process.env['REVISION'] || (git.status === 0 ? git.stdout : '');
  if (commit !== '') writeFileSync(COMMIT, commit.slice(0, 12));
}

/** @param {boolean} client */
function isBuilt(client) {
  return existsSync(STAMP) && (!client || existsSync(CLIENT)) && statSync(STAMP).mtimeMs >= newest(INPUT);
}

function makeGateway() {
  return during('Building', 'Built', async () => {
    const began = new Date();
    rmSync(DIST, { recursive: true, force: true });
    await bundle();
    copyAssets();
    markExecutables();
    nameCommit();
    await buildPages();
    writeFileSync(STAMP, '');
    // What was edited during the build has to count as newer.
    utimesSync(STAMP, began, began);
  });
}

/** Programs in TypeScript import it, so it has types. */
function makeClient() {
  compile('tsconfig.client.json', '--noCheck');
}

/** @param {string[]} args a project of the compiler, and its options */
function compile(...args) {
  const tsc = inProject('node_modules/typescript/bin/tsc');
  try {
    run(process.execPath, [tsc, '-p', ...args], { cwd: inProject('.') });
  } catch {
    throw new Error('The sources do not compile.');
  }
}
