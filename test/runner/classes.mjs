// @ts-check
/**
 * The class of a test file stands in its first line, `// class: app`, and nowhere else. A file of class pure or app that
 * changes what it shares with its process says `// class: app, alone`.
 */
import { readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { inProject } from '../../scripts/lib/project.mjs';

/** Those of `npm test`, then those that CI runs too, then what takes so long that it is left to the night. */
export const CLASSES = ['pure', 'app']
  .concat('built', 'ui', 'real', 'hostile', 'protocol', 'contract', 'chart')
  .concat('night');

/** @type {Record<string, readonly string[]>} */
export const LANES = { test: CLASSES.slice(0, 2), ci: CLASSES.slice(0, -1), night: CLASSES };

/** @typedef {{ file: string, class: string, alone: boolean }} TestFile */

const FIRST_LINE = /^\/\/ class: (\w+)(, alone)?\n/;
const IMPORT =
  /(?:^(?:import|export)\s+(?!type\b)(?:(\{[^}]*\}|[^'{]*?)\s*from\s*)?|\bimport\()'(\.[^']+)'/gm;

const BROWSER = ['browser.ts'];
const PROCESSES = ['startProcess', 'cli', 'startPostgres', 'startStandby', 'startRedis', 'startPgBouncer'];

/**
 * What a class may not reach: helpers in test/support by their file, or by what is imported from one.
 * @type {Record<string, readonly string[]>}
 */
const OUT_OF_REACH = {
  pure: [...BROWSER, ...PROCESSES, 'postgres.ts', 'redis.ts', 'embedded.ts', 'gateway.ts'],
  app: [...BROWSER, ...PROCESSES],
  ...Object.fromEntries(LANES['ci']?.slice(2).map((name) => [name, name === 'ui' ? [] : BROWSER]) ?? []),
};

/** What belongs to the whole process, so that a file that touches it has one to itself. */
const OF_THE_PROCESS =
  /process\.env\S* = |delete process\.env|(?:intercept|capture)\(process|setFlagsFromString|process\.(?:memoryUsage|cpuUsage|chdir|umask|exitCode =)/;

/**
 * Reads the class of a test file.
 * @param {string} file path from the project's root
 * @returns {TestFile}
 * @throws {Error} where it names none, or where what it does or imports contradicts it
 */
export function classOf(file) {
  const source = read(inProject(file));
  const [, name = '', alone] = FIRST_LINE.exec(source) ?? [];
  if (!CLASSES.includes(name))
    throw new Error(`${file}: the first line has to be "// class: X", X one of ${CLASSES.join(', ')}.`);
  const wrong = reached(inProject(file), OUT_OF_REACH[name] ?? [], new Set());
  if (wrong) throw new Error(`${file}: a test of class ${name} may not reach ${wrong}.`);
  const shares = LANES['test']?.includes(name);
  const process = OF_THE_PROCESS.exec(source)?.[0];
  if (shares && process && !alone)
    throw new Error(`${file}: it has ${process.trim()}, so its class has to be "${name}, alone".`);
  return { file, class: name, alone: alone !== undefined || !shares };
}

/**
 * Whether a file imports a helper, be it through others.
 * @param {string} file path from the project's root
 * @param {string} helper name of a file
 */
export function uses(file, helper) {
  return reached(inProject(file), [helper], new Set()) !== undefined;
}

/**
 * @param {string} file
 * @param {readonly string[]} unwanted
 * @param {Set<string>} seen
 * @returns {string | undefined} the unwanted helper, or what is unwanted of one
 */
function reached(file, unwanted, seen) {
  if (seen.has(file) || !file.startsWith(inProject('test'))) return undefined;
  seen.add(file);
  if (unwanted.includes(basename(file))) return basename(file);
  for (const [, names = '', path = ''] of read(file).matchAll(IMPORT)) {
    const wrong = names.match(/\w+/g)?.find((name) => unwanted.includes(name));
    const found = wrong ?? reached(resolve(dirname(file), path), unwanted, seen);
    if (found) return found;
  }
  return undefined;
}

/** @type {Map<string, string>} */
const sources = new Map();

/** @param {string} file */
function read(file) {
  const source = sources.get(file) ?? readFileSync(file, 'utf8');
  sources.set(file, source);
  return source;
}
