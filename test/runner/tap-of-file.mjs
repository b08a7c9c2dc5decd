// @ts-check
/**
 * What the copies of test files import as `tap`: the test of the file that is running, under which all its tests are.
 * So its teardowns run when it ends, before the next file of the process begins.
 */
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import tap from 'tap';
import { inProject } from '../../scripts/lib/project.mjs';
import { copyOf } from '../../scripts/typescript/prepare.mjs';

let current = /** @type {import('tap').Test} */ (tap);

// eslint-disable-next-line no-restricted-syntax -- tap has one
export default new Proxy(tap, {
  get(_, key) {
    const value = Reflect.get(current, key, current);
    return typeof value === 'function' ? value.bind(current) : value;
  },
  set: (_, key, value) => Reflect.set(current, key, value, current),
});

/**
 * Runs a test file in this process, to the end of all its tests and teardowns.
 * @param {string} file path from the project's root, or URL
 */
export async function runInTurn(file) {
  if (file.startsWith('file:')) return runInTurn(relative(inProject('.'), fileURLToPath(file)));
  const outer = current;
  // `--only` is about the tests in the file.
  await outer.test(file, { only: process.env['TAP_ONLY'] === '1' }, async (t) => {
    current = t;
    await import(await copyOf(file));
  });
  current = outer;
}
