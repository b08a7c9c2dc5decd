// @ts-check
/** Runs test files, some at a time. A program of its own, so that everything it starts can be ended with it. */
import { saveResults } from '../../scripts/lib/results.mjs';
import { fail } from '../../scripts/lib/say.mjs';
import { prepareSources } from '../../scripts/typescript/prepare.mjs';
import { parseOptions } from './options.mjs';
import { count, describeFile, describeRun } from './report.mjs';
import { runFile } from './run-file.mjs';
import { testFiles } from './test-files.mjs';

try {
  const began = Date.now();
  const options = parseOptions(process.argv.slice(2));
  const files = testFiles(options);
  if (files.length > 1) await prepareSources(['src', 'test']);
  const alone = files.length === 1;
  /** @type {import('./run-file.mjs').FileResult[]} */
  const results = [];
  const waiting = files.values();
  const worker = async () => {
    // Workers share the iterator, so each file is taken once.
    for (const file of waiting) {
      const result = await runFile(file.file, options);
      results.push(result);
      console.log(describeFile(result, alone));
    }
  };
  await Promise.all(Array.from({ length: options.jobs }, worker));

  console.log(describeRun(results, (Date.now() - began) / 1000));
  const counts = count(results);
  saveResults('tests', counts);
  process.exitCode = counts.failed === 0 && counts.passed > 0 ? 0 : 1;
} catch (error) {
  fail(error);
}
