// @ts-check
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { LANES } from './classes.mjs';

/** More at once would only make the tests that measure time wait for each other. */
const MOST_JOBS = 4;

export const USAGE = `npm test -- [FILE, FOLDER OR PART OF A PATH ...]
  Without a path: the tests of class pure and app, by the first line of each file.
  --lane LANE     test: pure and app; ci: all classes but night; night: all
  --class CLASS   only tests of this class
  --grep TEXT     only tests whose name contains it (/.../ is a regular expression)
  --only          only tests marked with t.only
  --jobs N        test files at a time that use a processor; twice as many again that mostly wait
  --alone         each file in a process of its own
  --seed N        files in an order drawn by it; tests that draw do so by it, too
  --record        keep what each file took, and the lane as its budget, in test/runner/recorded.tsv
  --silence S     seconds a test file may go without a word, such as an assertion (180), on an idle machine
  --timeout S     seconds a test file may take in all (3600)`;

/** @typedef {ReturnType<typeof parseOptions>} Options */

/** @param {string[]} args */
export function parseOptions(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      lane: { type: 'string', default: 'test' },
      class: { type: 'string' },
      grep: { type: 'string' },
      only: { type: 'boolean' },
      jobs: { type: 'string', default: String(Math.min(availableParallelism(), MOST_JOBS)) },
      alone: { type: 'boolean', default: false },
      seed: { type: 'string' },
      record: { type: 'boolean', default: false },
      silence: { type: 'string', default: '180' },
      timeout: { type: 'string', default: '3600' },
    },
  });
  const lane = LANES[values.lane];
  if (!lane) throw new Error(`There is no lane ${values.lane}, but ${Object.keys(LANES).join(', ')}.`);
  return {
    wanted: positionals,
    /** Its name, where all of it is asked for, as it is recorded. */
    lane:
      positionals.length === 0 && !values.class && !values.grep && !values.only && !values.alone
        ? values.lane
        : undefined,
    classes: values.class === undefined ? lane : [values.class],
    jobs: Number(values.jobs),
    alone: values.alone,
    seed: values.seed,
    record: values.record,
    limits: { silenceMs: Number(values.silence) * 1000, totalMs: Number(values.timeout) * 1000 },
    // tap in the test process reads these. It would limit the time of the whole file, which the runner does better.
    env: /** @type {Record<string, string>} */ ({
      TAP_TIMEOUT: '0',
      // The outermost test is the file.
      ...(values.grep !== undefined && { TAP_GREP: `/./\n${values.grep}` }),
      ...(values.only && { TAP_ONLY: '1' }),
    }),
  };
}
