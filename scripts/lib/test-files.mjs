// @ts-check
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { inProject } from './project.mjs';

const IMPORT = /from\s+'(\.[^']+)'/g;

/**
 * Test files that import a helper, be it through other helpers.
 * @param {string} helper absolute path
 * @returns {string[]}
 */
export function testFilesThatUse(helper) {
  const folder = inProject('test');
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join(folder, name))
    .filter((file) => reaches(file, helper, new Set()))
    .map((file) => relative(inProject('.'), file))
    .sort();
}

/**
 * @param {string} file
 * @param {string} goal
 * @param {Set<string>} seen
 * @returns {boolean}
 */
function reaches(file, goal, seen) {
  if (file === goal) return true;
  if (seen.has(file) || !file.startsWith(inProject('test'))) return false;
  seen.add(file);
  const imports = [...readFileSync(file, 'utf8').matchAll(IMPORT)].map(([, path = '']) =>
    resolve(dirname(file), path),
  );
  return imports.some((imported) => reaches(imported, goal, seen));
}
