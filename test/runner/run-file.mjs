// @ts-check
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Parser } from 'tap-parser';
import { inProject } from '../../scripts/lib/project.mjs';
import { slowdown } from './slowdown.mjs';

const NODE_ARGS = ['--disable-warning=ExperimentalWarning', inProject('test/runner/test-process.mjs')];
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
 * @property {number} processorSeconds of the process and of those that it has seen end
 * @property {string} output what the file printed besides its results
 */
/** @typedef {{ name: string, details: Record<string, unknown> }} Failure */

/**
 * How long a file may take. A busy machine makes files slow, but a file that makes progress goes on asserting; so what
 * ends a file that hangs is the time without a word from it, and the limit for all of it is only for one that loops.
 * @typedef {{ silenceMs: number, totalMs: number }} Limits
 */
/** @typedef {{ limits: Limits, env: Record<string, string> }} Options */

/**
 * Runs one test file in a process of its own and reads its results.
 * @param {string} file
 * @param {Options} options
 * @returns {Promise<FileResult>}
 */
export async function runFile(file, options) {
  const process = new TestProcess(options);
  const result = await process.run(file);
  const trouble = await process.end();
  if (trouble && result.failures.length === 0) result.failures.push({ name: trouble, details: {} });
  return result;
}

/**
 * A process that runs test files one after another.
 *
 * tap's own runner would do this too, but hooks every module load and every process that a test starts, which doubles
 * the time of a test file and puts its hooks into the very programs under test.
 */
export class TestProcess {
  /** Files that it has begun. */
  files = /** @type {string[]} */ ([]);
  ended = false;
  #failed = false;
  #result = emptyResult('');
  #limits;
  #child;
  #channel;
  #parser;
  /** What was wrong about its end, once it has ended. */
  #end;
  #late = '';
  #refresh = () => {};
  /** @type {(told: boolean) => void} */
  #told = () => {};

  /** @param {Options} options */
  constructor({ limits, env }) {
    this.#limits = limits;
    this.#child = spawn(process.execPath, NODE_ARGS, {
      cwd: inProject('.'),
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    });
    const [, stdout, stderr, channel] = this.#child.stdio;
    this.#channel = /** @type {import('node:net').Socket} */ (channel);
    this.#channel.on('error', () => undefined);
    stderr?.on('data', (/** @type {Buffer} */ text) => (this.#result.output += text.toString()));
    stdout?.on('data', () => this.#refresh());
    this.#parser = this.#collect(new Parser());
    stdout?.pipe(this.#parser);
    this.#end = this.#untilEnd();
    createInterface({ input: this.#channel })
      .on('error', () => undefined)
      .on('line', (ms) => {
        this.#result.processorSeconds = Number(ms) / 1000;
        this.#told(true);
      });
  }

  /**
   * @param {string} file
   * @returns {Promise<FileResult>}
   */
  async run(file) {
    const began = Date.now();
    const result = (this.#result = emptyResult(file));
    this.files.push(file);
    const told = new Promise((resolve) => (this.#told = resolve));
    const asserted = new Promise((resolve) => {
      this.#parser.once('child', (tests) => tests.once('complete', resolve));
    });
    this.#channel.write(`${file}\n`);
    const ended = this.#end.then((trouble) => trouble ?? 'ended in the middle');
    const trouble = await this.#within(Promise.race([ended, Promise.all([told, asserted])]));

    // The end of the process says what no assertion could: that it broke off.
    if (typeof trouble === 'string' && result.failures.length === 0)
      result.failures.push({ name: trouble, details: {} });
    if (result.passed + result.skipped + result.failures.length === 0)
      result.failures.push({ name: 'ran no test', details: {} });
    this.#failed ||= result.failures.length > 0;
    return { ...result, seconds: (Date.now() - began) / 1000 };
  }

  /**
   * Lets it end.
   * @returns {Promise<string | undefined>} what was wrong about its end, unless a file has failed already
   */
  async end() {
    this.#channel.end();
    const trouble = await this.#within(this.#end);
    return this.#failed ? undefined : trouble;
  }

  /**
   * Waits for something, and ends the process when it has been silent, or has run, for too long.
   * @template T
   * @param {Promise<T>} awaited
   */
  async #within(awaited) {
    const { silenceMs, totalMs } = this.#limits;
    let heardMs = Date.now();
    const silence = setTimeout(() => {
      if (Date.now() - heardMs < silenceMs * slowdown()) silence.refresh();
      else this.#kill(`asserted nothing for ${silenceMs / 1000} s`);
    }, silenceMs);
    const total = setTimeout(() => this.#kill(`took longer than ${totalMs / 1000} s`), totalMs);
    this.#refresh = () => {
      heardMs = Date.now();
      if (this.#late === '') silence.refresh();
    };
    try {
      return await awaited;
    } finally {
      clearTimeout(silence);
      clearTimeout(total);
    }
  }

  /** @param {string} reason */
  #kill(reason) {
    this.#late ||= reason;
    this.#child.kill('SIGALRM');
    setTimeout(() => this.#child.kill('SIGKILL'), LAST_WORDS_MS).unref();
  }

  /** @returns {Promise<string | undefined>} */
  async #untilEnd() {
    const complete = once(this.#parser, 'complete');
    const trouble = await new Promise((resolve) => {
      this.#child.once('error', (error) => resolve(error.message));
      this.#child.once('exit', (code, signal) =>
        resolve(this.#late || (code === 0 ? undefined : `ended with ${signal ?? `exit code ${code}`}`)),
      );
    });
    this.ended = true;
    // What a test left running may hold the pipe open, and must not hold up the run.
    setTimeout(() => this.#parser.end(), LEFTOVER_MS).unref();
    await complete;
    return trouble;
  }

  /** @param {Parser} parser */
  #collect(parser) {
    return parser
      .on('pass', () => (this.#result.passed += 1))
      .on('skip', ({ skip, fullname }) => {
        if (fullname === this.#result.file) return; // tap's word for a file without tests
        this.#result.skipped += 1;
        if (typeof skip === 'string') this.#result.reasons.push(skip);
      })
      .on('todo', () => (this.#result.skipped += 1))
      .on('fail', ({ fullname, diag }) => {
        const name = fullname.replace(`${this.#result.file} > `, '');
        this.#result.failures.push({ name, details: diag ?? {} });
      })
      .on('extra', (/** @type {string} */ text) => (this.#result.output += text));
  }
}

/**
 * @param {string} file
 * @returns {FileResult}
 */
function emptyResult(file) {
  return {
    file,
    ...{ passed: 0, skipped: 0, reasons: [], failures: [] },
    ...{ seconds: 0, processorSeconds: 0, output: '' },
  };
}
