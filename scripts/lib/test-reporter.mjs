// @ts-check
/**
 * Prints one line per test file, and everything about a failure where it happens. At the end the counts go to
 * .cache/results/, where `.ci/run` adds them up.
 *
 * A function with `write` and `end` on its prototype is what tap takes for a reporter that reads its output.
 */
import { PassThrough } from 'node:stream';
import { Parser } from 'tap-parser';
import { saveResults } from './results.mjs';

/** @typedef {import('tap-parser').Result} Result */

export default class TestReporter extends PassThrough {
  /** @type {Result[]} */
  #failures = [];
  #counts = { passed: 0, failed: 0, skipped: 0 };
  #passedBefore = 0;
  #files = 0;
  #began = Date.now();
  #parser = new Parser();

  constructor() {
    super();
    this.#parser
      .on('pass', () => (this.#counts.passed += 1))
      .on('skip', () => (this.#counts.skipped += 1))
      .on('todo', () => (this.#counts.skipped += 1))
      .on('fail', (/** @type {Result} */ result) => {
        this.#counts.failed += 1;
        this.#failures.push(result);
      })
      .on('assert', (/** @type {Result} */ file) => this.#fileEnded(file))
      .on('bailout', (/** @type {string} */ reason) => this.#print(`Bail out! ${reason}`));
  }

  /**
   * What tap says goes to the parser; what the parser makes of it comes out.
   * @override
   * @param {Buffer} chunk
   * @param {BufferEncoding} _encoding
   * @param {() => void} done
   */
  _transform(chunk, _encoding, done) {
    this.#parser.write(chunk);
    done();
  }

  /**
   * @override
   * @param {() => void} done
   */
  _flush(done) {
    this.#parser.end();
    const { passed, failed, skipped } = this.#counts;
    const seconds = ((Date.now() - this.#began) / 1000).toFixed(1);
    this.#print(
      `\n${this.#files} test files, ${passed + failed} assertions: ${passed} passed, ${failed} failed` +
        `${skipped ? `, ${skipped} skipped` : ''} (${seconds} s)`,
    );
    saveResults('tests', this.#counts);
    done();
  }

  /** @param {Result} file */
  #fileEnded(file) {
    this.#files += 1;
    const asserted = this.#counts.passed - this.#passedBefore;
    this.#passedBefore = this.#counts.passed;
    const seconds = `${((file.time ?? 0) / 1000).toFixed(1)} s`;
    this.#print(`${file.ok ? 'ok  ' : 'FAIL'} ${file.name}  (${asserted} passed, ${seconds})`);
    for (const failure of this.#failures.splice(0)) this.#print(described(failure));
  }

  /** @param {string} text */
  #print(text) {
    this.push(`${text}\n`);
  }
}

/** @param {Result} failure */
function described({ fullname, diag }) {
  const { at, stack, ...rest } = diag ?? {};
  delete rest.source; // a reader has the file open anyway
  const details = Object.entries(rest).map(([key, value]) => `${key}: ${inLines(value)}`);
  if (stack) details.push(`stack:\n${stack}`.trimEnd());
  else if (at?.fileName) details.push(`at ${at.fileName}:${at.lineNumber}:${at.columnNumber}`);
  return [`  ✗ ${fullname}`, ...details.map((text) => text.replace(/^/gm, '      '))].join('\n');
}

/** @param {unknown} value */
function inLines(value) {
  if (typeof value !== 'string') return JSON.stringify(value, undefined, 2);
  return value.includes('\n') ? `\n${value.trimEnd()}` : value;
}
