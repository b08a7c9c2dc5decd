// @ts-check
/** What a person reads: one line per test file, and everything about a failure right below it. */

/** @typedef {import('./run-file.mjs').FileResult} FileResult */

/**
 * @param {FileResult} result
 * @param {boolean} [withOutput] also where nothing failed
 */
export function describeFile({ file, passed, failures, seconds, output }, withOutput = false) {
  const failed = failures.length > 0;
  return [
    `${failed ? 'FAIL' : 'ok  '} ${file}  (${passed} passed, ${seconds.toFixed(1)} s)`,
    ...failures.map(describeFailure),
    ...((failed || withOutput) && output.trim() ? [indent(`printed:\n${output.trim()}`, 4)] : []),
  ].join('\n');
}

/**
 * @param {FileResult[]} results
 * @param {number} seconds
 */
export function describeRun(results, seconds) {
  const { passed, failed, skipped } = count(results);
  return (
    `\n${results.length} test files, ${passed + failed} assertions: ${passed} passed, ${failed} failed` +
    `${skipped > 0 ? `, ${skipped} skipped` : ''} (${seconds.toFixed(1)} s)` +
    [...new Set(results.flatMap(({ reasons }) => reasons))].map((reason) => `\nskipped: ${reason}`).join('') +
    results.flatMap(({ file, failures }) => failures.map(({ name }) => `\nfailed: ${file}: ${name}`)).join('')
  );
}

/**
 * @param {FileResult[]} results
 * @returns {import('../../scripts/lib/results.mjs').Results}
 */
export function count(results) {
  const sum = (/** @type {(result: FileResult) => number} */ part) =>
    results.reduce((total, result) => total + part(result), 0);
  return {
    passed: sum(({ passed }) => passed),
    failed: sum(({ failures }) => failures.length),
    skipped: sum(({ skipped }) => skipped),
  };
}

/** @param {import('./run-file.mjs').Failure} failure */
function describeFailure({ name, details: { at, stack, ...rest } }) {
  delete rest['source']; // a reader of the report has the file open
  const details = Object.entries(rest).map(([key, value]) => `${key}: ${inLines(value)}`);
  if (typeof stack === 'string') details.push(`stack:\n${stack.trimEnd()}`);
  else if (at) details.push(`at: ${inLines(at)}`);
  return [indent(`✗ ${name}`, 2), ...details.map((text) => indent(text, 6))].join('\n');
}

/** @param {unknown} value */
function inLines(value) {
  if (typeof value !== 'string') return JSON.stringify(value);
  return value.includes('\n') ? `\n${value.trimEnd()}` : value;
}

/**
 * @param {string} text
 * @param {number} by
 */
function indent(text, by) {
  return text.replace(/^/gm, ' '.repeat(by));
}
