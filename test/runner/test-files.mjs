// @ts-check
import { existsSync, readdirSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { inProject } from '../../scripts/lib/project.mjs';
import { classOf } from './classes.mjs';

/** @typedef {import('./classes.mjs').TestFile} TestFile */

/**
 * The test files asked for.
 * @param {object} asked
 * @param {string[]} asked.wanted files, folders or parts of a path, of any class; none means all of the classes
 * @param {readonly string[]} asked.classes
 * @returns {TestFile[]}
 * @throws {Error} where a path matches nothing, or a file is not of the class that it names
 */
export function testFiles({ wanted, classes }) {
  const all = allTestFiles();
  if (wanted.length === 0) return all.map(classOf).filter((file) => classes.includes(file.class));
  return [...new Set(wanted.flatMap((path) => matching(path, all)))].map(classOf);
}

/** Paths of all test files from the project's root. */
function allTestFiles() {
  return readdirSync(inProject('test'), { recursive: true, encoding: 'utf8' })
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
