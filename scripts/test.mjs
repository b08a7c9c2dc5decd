#!/usr/bin/env node
// @ts-check
/**
 * `npm test [-- FILES AND OPTIONS]`: runs the tests against a real PostgreSQL and a real Redis, both started here for
 * this run only.
 */
import './lib/node-version.mjs';
import { constants } from 'node:os';
import { ensureInstalled } from './lib/install.mjs';
import { endWithNpm } from './lib/parent.mjs';
import { fail } from './lib/say.mjs';
import { USAGE } from '../test/runner/options.mjs';
import { runTests } from '../test/runner/run-tests.mjs';

const abort = new AbortController();
for (const name of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
  process.once(name, () => {
    process.exitCode = 128 + constants.signals[name];
    abort.abort();
  });
}

endWithNpm();

if (process.argv.includes('--help')) {
  console.log(USAGE);
  process.exit();
}
try {
  await ensureInstalled();
  const passed = await runTests(process.argv.slice(2), abort.signal);
  process.exitCode ??= passed ? 0 : 1;
} catch (error) {
  fail(error);
}
