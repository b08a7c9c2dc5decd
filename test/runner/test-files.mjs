// @ts-check
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { inProject } from '../../scripts/lib/project.mjs';

const FOLDER = inProject('test');
const IMPORT = /from\s+'(\.[^']+)'/g;

/** What takes minutes or needs tools; `npm test` runs it only where a path asks for it. */
const E2E = join('test', 'e2e', '/');

/**
 * The test files asked for, as paths from the project's root.
 * @param {object} asked
 * @param {string[]} asked.wanted files, folders or parts of a path; none means all of one half of the suite
 * @param {boolean} asked.e2e whether only test/e2e is asked for
 * @returns {string[]}
 */
export function testFiles({ wanted, e2e }) {
  const all = allTestFiles().filter((file) => !e2e || file.startsWith(E2E));
  if (wanted.length === 0) return all.filter((file) => file.startsWith(E2E) === e2e);
  return [...new Set(wanted.flatMap((path) => matching(path, all)))];
}

/**
 * Test files that import a helper, be it through other helpers.
 * @param {string} helper path from the project's root
 * @returns {string[]}
 */
export function testFilesThatUse(helper) {
  return allTestFiles().filter((file) => reaches(inProject(file), inProject(helper), new Set()));
}

function allTestFiles() {
  return readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join('test', name))
    .sort();
}

/**
 * @param {string} path
 * @param {string[]} all
 */
function matching(path, all) {
  const named = relative(inProject('.'), resolve(path));
  const found = existsSync(path)
    ? all.filter((file) => file === named || file.startsWith(join(named, '/')))
    : all.filter((file) => file.includes(path));
  if (found.length === 0) throw new Error(`No test file matches ${path}.`);
  return found;
}

/**
 * @param {string} file
 * @param {string} goal
 * @param {Set<string>} seen
 * @returns {boolean}
 */
function reaches(file, goal, seen) {
  if (file === goal) return true;
  if (seen.has(file) || !file.startsWith(FOLDER)) return false;
  seen.add(file);
  const imports = [...readFileSync(file, 'utf8').matchAll(IMPORT)].map(([, path = '']) =>
    resolve(dirname(file), path),
  );
  return imports.some((imported) => reaches(imported, goal, seen));
}
