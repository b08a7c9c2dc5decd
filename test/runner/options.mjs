// @ts-check
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';

/** More at once would only make the tests that measure time wait for each other. */
const MOST_JOBS = 4;

export const USAGE = `npm test -- [FILE, FOLDER OR PART OF A PATH ...]
  Without a path: all tests but those of test/e2e, which \`npm run test:e2e\` runs.
  --grep TEXT     only tests whose name contains it (/.../ is a regular expression)
  --only          only tests marked with t.only
  --jobs N        test files at a time
  --e2e           only tests of test/e2e, which take minutes or need tools
  --timeout S     seconds a test file may take (120)`;

/** @typedef {{ wanted: string[], e2e: boolean, jobs: number, timeoutMs: number, env: Record<string, string> }} Options */

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
      e2e: { type: 'boolean', default: false },
      jobs: { type: 'string', default: String(Math.min(availableParallelism(), MOST_JOBS)) },
      timeout: { type: 'string', default: '120' },
    },
  });
  return {
    wanted: positionals,
    e2e: values.e2e,
    jobs: Number(values.jobs),
    timeoutMs: Number(values.timeout) * 1000,
    // tap in the test process reads these. Its own limit for a single test is lower than the file's.
    env: {
      TAP_TIMEOUT: values.timeout,
      ...(values.grep !== undefined && { TAP_GREP: values.grep }),
      ...(values.only && { TAP_ONLY: '1' }),
    },
  };
}
