#!/usr/bin/env node
// @ts-check
/** `npm run check [-- NAMES]`: everything that can be said about the sources without running them. */
import './lib/node-version.mjs';
import { CHECKS, runCheck } from './lib/checks.mjs';
import { ensureGenerated } from './lib/generated.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { saveResults } from './lib/results.mjs';
import { fail } from './lib/say.mjs';

try {
  await ensureInstalled();
  await ensureGenerated();
  const asked = process.argv.slice(2);
  const unknown = asked.filter((name) => !CHECKS[name]);
  if (unknown.length > 0)
    throw new Error(`No such check: ${unknown.join(', ')}. There are: ${Object.keys(CHECKS).join(', ')}.`);

  const names = asked.length > 0 ? asked : Object.keys(CHECKS);
  const outcomes = await Promise.all(
    names.map(async (name) => {
      const outcome = await runCheck(name);
      console.log(`${outcome.passed ? 'ok  ' : 'FAIL'} ${name}  (${outcome.seconds} s)`);
      if (!outcome.passed) console.log(outcome.output.trim().replace(/^/gm, '     '));
      return outcome;
    }),
  );
  const failed = outcomes.filter(({ passed }) => !passed).length;
  saveResults('checks', { passed: outcomes.length - failed, failed, skipped: 0 });
  process.exitCode = failed > 0 ? 1 : 0;
} catch (error) {
  fail(error);
}
