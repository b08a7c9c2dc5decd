// @ts-check
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inProject } from './project.mjs';

const FOLDER = inProject('.cache/results');

/** @typedef {{ passed: number, failed: number, skipped: number }} Results */

/**
 * Keeps the counts of one command for whoever ran several.
 * @param {string} name
 * @param {Results} results
 */
export function saveResults(name, results) {
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, `${name}.json`), JSON.stringify(results));
}

/**
 * The counts of the named commands; nothing for one that did not get as far as counting.
 * @param {string[]} names
 * @returns {Results[]}
 */
export function savedResults(names) {
  mkdirSync(FOLDER, { recursive: true });
  const saved = readdirSync(FOLDER);
  return names
    .filter((name) => saved.includes(`${name}.json`))
    .map((name) => JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8')));
}
