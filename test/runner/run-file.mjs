// @ts-check
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Parser } from 'tap-parser';
import { inProject } from '../../scripts/lib/project.mjs';

const NODE_ARGS = ['--import=./scripts/typescript/register.mjs', '--disable-warning=ExperimentalWarning'];
/** After the polite signal tap still reports which test hung and on what. */
const LAST_WORDS_MS = 2_000;
const LEFTOVER_MS = 500;

/**
 * @typedef {object} FileResult
 * @property {string} file
 * @property {number} passed assertions
 * @property {number} skipped tests
 * @property {string[]} reasons why each was skipped, as far as it says so
 * @property {Failure[]} failures
 * @property {number} seconds
 * @property {string} output what the file printed besides its results
 */
/** @typedef {{ name: string, details: Record<string, unknown> }} Failure */

/**
 * How long a file may take. A busy machine makes files slow, but a file that makes progress goes on asserting; so what
 * ends a file that hangs is the time without a word from it, and the limit for all of it is only for one that loops.
 * @typedef {{ silenceMs: number, totalMs: number }} Limits
 */

/**
 * Runs one test file in a process of its own and reads its results.
 *
 * tap's own runner would do this too, but hooks every module load and every process that a test starts, which doubles
 * the time of a test file and puts its hooks into the very programs under test.
 * @param {string} file
 * @param {{ limits: Limits, env: Record<string, string> }} options
 * @returns {Promise<FileResult>}
 */
export async function runFile(file, { limits, env }) {
  /** @type {FileResult} */
  const result = { file, passed: 0, skipped: 0, reasons: [], failures: [], seconds: 0, output: '' };
  const began = Date.now();
  const child = spawn(process.execPath, [...NODE_ARGS, file], {
    cwd: inProject('.'),
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stderr.on('data', (/** @type {Buffer} */ text) => (result.output += text.toString()));
  const parser = child.stdout.pipe(collectInto(result));
  const complete = once(parser, 'complete');

  const trouble = await ending(child, limits);
  // What the test left running may hold the pipe open, and must not hold up the run.
  setTimeout(() => parser.end(), LEFTOVER_MS).unref();
  await complete;

  // The end of the process says what no assertion could: that it broke off.
  if (trouble && result.failures.length === 0) result.failures.push({ name: trouble, details: {} });
  const ran = result.passed + result.skipped + result.failures.length;
  if (ran === 0) result.failures.push({ name: 'ran no test', details: {} });
  return { ...result, seconds: (Date.now() - began) / 1000 };
}

/**
 * @param {FileResult} result
 * @returns {Parser}
 */
function collectInto(result) {
  return new Parser()
    .on('pass', () => (result.passed += 1))
    .on('skip', ({ skip }) => {
      result.skipped += 1;
      if (typeof skip === 'string') result.reasons.push(skip);
    })
    .on('todo', () => (result.skipped += 1))
    .on('fail', ({ fullname, diag }) => result.failures.push({ name: fullname, details: diag ?? {} }))
    .on('extra', (/** @type {string} */ text) => (result.output += text));
}

/**
 * Waits for the process to end, and ends it when it has been silent, or has run, for too long.
 * @param {import('node:child_process').ChildProcess} child
 * @param {Limits} limits
 * @returns {Promise<string | undefined>} what was wrong about its end
 */
function ending(child, { silenceMs, totalMs }) {
  return new Promise((resolve) => {
    let late = '';
    const endIt = (/** @type {string} */ reason) => {
      late ||= reason;
      child.kill('SIGALRM');
      setTimeout(() => child.kill('SIGKILL'), LAST_WORDS_MS).unref();
    };
    const silence = setTimeout(() => endIt(`asserted nothing for ${silenceMs / 1000} s`), silenceMs);
    const total = setTimeout(() => endIt(`took longer than ${totalMs / 1000} s`), totalMs);
    child.stdout?.on('data', () => late === '' && silence.refresh());
    const end = (/** @type {string | undefined} */ trouble) => {
      clearTimeout(silence);
      clearTimeout(total);
      resolve(trouble);
    };
    child.once('error', (error) => end(error.message));
    child.once('exit', (code, signal) =>
      end(late || (code === 0 ? undefined : `ended with ${signal ?? `exit code ${code}`}`)),
    );
  });
}
