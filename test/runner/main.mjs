// @ts-check
/** Runs test files, some at a time. A program of its own, so that everything it starts can be ended with it. */
import { saveResults } from '../../scripts/lib/results.mjs';
import { fail } from '../../scripts/lib/say.mjs';
import { prepareSources } from '../../scripts/typescript/prepare.mjs';
import { parseOptions } from './options.mjs';
import { Progress } from './progress.mjs';
import { record } from './recorded.mjs';
import { count, describeFile, describeRun } from './report.mjs';
import { inOrder, runAll } from './schedule.mjs';
import { testFiles } from './test-files.mjs';

try {
  const began = Date.now();
  const options = parseOptions(process.argv.slice(2));
  const files = inOrder(testFiles(options), options.seed);
  console.log(`TEST_SEED ${process.env['TEST_SEED']}`);
  await prepareSources();
  /** @type {import('./run-file.mjs').FileResult[]} */
  const results = [];
  const progress = new Progress(files, options.jobs);
  await runAll(files, options, (result) => {
    results.push(result);
    progress.add(result, describeFile(result, files.length === 1));
  });
  progress.end();

  console.log(describeRun(results, (Date.now() - began) / 1000));
  const counts = count(results);
  saveResults('tests', counts);
  if (options.record) record(results.map((result) => [result.file, result]));
  process.exitCode = counts.failed === 0 && counts.passed > 0 ? 0 : 1;
} catch (error) {
  fail(error);
}
