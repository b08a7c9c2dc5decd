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
  --jobs N        test files at a time
  --silence S     seconds a test file may go without a word, such as an assertion (180)
  --timeout S     seconds a test file may take in all (3600)`;

/** @typedef {{ wanted: string[], lane: string, classes: readonly string[], jobs: number, limits: import('./run-file.mjs').Limits, env: Record<string, string> }} Options */

/**
 * @param {string[]} args
 * @returns {Options}
 */
export function parseOptions(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      grep: { type: 'string' },
      only: { type: 'boolean' },
      lane: { type: 'string', default: 'test' },
      class: { type: 'string' },
      jobs: { type: 'string', default: String(Math.min(availableParallelism(), MOST_JOBS)) },
      silence: { type: 'string', default: '180' },
      timeout: { type: 'string', default: '3600' },
    },
  });
  const lane = LANES[values.lane];
  if (!lane) throw new Error(`There is no lane ${values.lane}, but ${Object.keys(LANES).join(', ')}.`);
  return {
    wanted: positionals,
    lane: values.lane,
    classes: values.class === undefined ? lane : [values.class],
    jobs: Number(values.jobs),
    limits: { silenceMs: Number(values.silence) * 1000, totalMs: Number(values.timeout) * 1000 },
    // tap in the test process reads these. It would limit the time of the whole file, which the runner does better.
    env: {
      TAP_TIMEOUT: '0',
      ...(values.grep !== undefined && { TAP_GREP: values.grep }),
      ...(values.only && { TAP_ONLY: '1' }),
    },
  };
}
