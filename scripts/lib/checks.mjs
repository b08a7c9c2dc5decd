// @ts-check
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { inProject } from './project.mjs';

/** @typedef {{ name: string, passed: boolean, output: string, seconds: string }} Outcome */

/** Types, lint and format keep what they found of unchanged files here; a fresh clone has none of it. */
const CACHE = '.cache/check';

/**
 * A program of a dependency or of scripts/, with its arguments.
 * @type {Record<string, string[]>}
 */
export const CHECKS = {
  types: ['typescript/bin/tsc', '--noEmit', ...incremental('types')],
  'types of the console': [
    'typescript/bin/tsc',
    '--noEmit',
    '-p',
    'console',
    ...incremental('types-of-console'),
  ],
  'types of scripts': ['typescript/bin/tsc', '--noEmit', '-p', 'scripts', ...incremental('types-of-scripts')],
  lint: [
    'eslint/bin/eslint.js',
    ...[
      '.',
      '--max-warnings=0',
      '--cache',
      '--cache-location',
      `${CACHE}/lint`,
      '--cache-strategy',
      'content',
    ],
  ],
  format: [
    'prettier/bin/prettier.cjs',
    ...['--check', '--log-level=warn', '--cache', '--cache-location', `${CACHE}/format`, '.'],
  ],
  // Links, named files and tests, tables: all that can be said about pages and configurations from their text.
  docs: ['../scripts/docs.mjs'],
  'generated files': ['../scripts/generate.mjs', '--check'],
  // Files, exports and dependencies that nothing uses, and packages that are used without being listed.
  unused: ['knip/bin/knip.js', '--treat-config-hints-as-errors', '--no-progress'],
  layers: [
    'dependency-cruiser/bin/dependency-cruise.mjs',
    '--config',
    '.dependency-cruiser.cjs',
    ...['src', 'console', 'test', 'bench'].filter((folder) => existsSync(inProject(folder))),
  ],
};

/** @param {string} name */
function incremental(name) {
  return ['--incremental', '--tsBuildInfoFile', `${CACHE}/${name}.tsbuildinfo`];
}

/**
 * Runs one check to its end.
 * @param {string} name
 * @returns {Promise<Outcome>}
 */
export function runCheck(name) {
  const [program = '', ...args] = CHECKS[name] ?? [];
  const began = Date.now();
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [inProject(`node_modules/${program}`), ...args], {
      cwd: inProject('.'),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    // All run at once; the longest goes first, so that no processor is idle at its end.
    if (name !== 'lint' && child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
    let output = '';
    const collect = (/** @type {Buffer} */ text) => (output += text.toString());
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.once('close', (code) =>
      resolve({ name, passed: code === 0, output, seconds: ((Date.now() - began) / 1000).toFixed(1) }),
    );
  });
}
