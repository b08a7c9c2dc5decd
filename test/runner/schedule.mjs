// @ts-check
import { createHash } from 'node:crypto';
import { runFile, TestProcess } from './run-file.mjs';
import { takenBy } from './recorded.mjs';

/** @typedef {import('./classes.mjs').TestFile} TestFile */
/** @typedef {import('./run-file.mjs').FileResult} FileResult */

/** Files that share a process, at most: what each leaves behind grows with them, what they save hardly does. */
const FILES_A_PROCESS = 20;
/** A file that uses less of a processor than this waits for most of its time. */
const WAITS = 0.4;
/** Files that wait, for each that burns: together they keep the processors busy. */
const WAITING = 2;
/** Files under way at once, for each job. */
export const FILES_A_JOB = 1 + WAITING;
const SECONDS_OF_A_NEW_FILE = 4;

/**
 * Runs files in the order given: `jobs` at a time that burn, beside them {@link WAITING} times as many that wait.
 * @param {TestFile[]} files
 * @param {import('./options.mjs').Options} options
 * @param {(result: FileResult) => void} onResult
 */
export async function runAll(files, options, onResult) {
  const waiting = files.filter(waits);
  const burning = files.filter((file) => !waits(file));
  const lane = async (/** @type {() => TestFile | undefined} */ next) => {
    /** @type {TestProcess | undefined} */
    let shared;
    for (let file = next(); file; file = next()) {
      if (options.alone || file.alone) {
        onResult(await runFile(file.file, options));
        continue;
      }
      shared ??= new TestProcess(options);
      onResult(await shared.run(file.file));
      if (shared.ended || shared.files.length === FILES_A_PROCESS) {
        await endOf(shared, onResult);
        shared = undefined;
      }
    }
    if (shared) await endOf(shared, onResult);
  };
  const burn = Array.from({ length: options.jobs }, () => lane(() => burning.shift() ?? waiting.shift()));
  const wait = Array.from({ length: WAITING * options.jobs }, () => lane(() => waiting.shift()));
  await Promise.all([...burn, ...wait]);
}

/**
 * @param {TestProcess} process
 * @param {(result: FileResult) => void} onResult
 */
async function endOf(process, onResult) {
  const trouble = await process.end();
  if (trouble === undefined) return;
  const result = { passed: 0, skipped: 0, reasons: [], seconds: 0, processorSeconds: 0, output: '' };
  onResult({
    ...result,
    file: `the process of ${process.files.join(', ')}`,
    failures: [{ name: trouble, details: {} }],
  });
}

/**
 * Longest first, so that the run does not end with one that the others wait for; or drawn.
 * @param {TestFile[]} files
 * @param {string} [seed]
 */
export function inOrder(files, seed) {
  const rank = (/** @type {string} */ file) =>
    seed === undefined
      ? -secondsOf(file)
      : createHash('sha256').update(`${seed} ${file}`).digest().readUInt32BE();
  return files
    .map((file) => ({ file, rank: rank(file.file) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ file }) => file);
}

/** @param {string} file */
export function secondsOf(file) {
  return takenBy(file)?.seconds ?? SECONDS_OF_A_NEW_FILE;
}

/** @param {TestFile} file */
function waits({ file }) {
  const { seconds, processorSeconds } = takenBy(file) ?? { seconds: 0, processorSeconds: 0 };
  return processorSeconds < seconds * WAITS;
}
