#!/usr/bin/env node
// @ts-check
/**
 * `node scripts/ci-summary.mjs STATUS`: the last line of a CI run, `N passed, N failed`, where a check counts like an
 * assertion of the tests. Fails if STATUS says that anything failed, or if nothing ran.
 */
import { savedResults } from './lib/results.mjs';

const PARTS = ['checks', 'tests'];

const status = Number(process.argv[2]);
const counted = savedResults(PARTS);
// A part that never got as far as counting has failed as a whole.
const lost = PARTS.length - counted.length;
const passed = sum('passed');
const skipped = sum('skipped');
// A command may fail without any single failure, as when tap finds a leftover at its end.
const failed = Math.max(sum('failed') + lost, status === 0 ? 0 : 1);

console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);

/** @param {keyof import('./lib/results.mjs').Results} count */
function sum(count) {
  return counted.reduce((total, results) => total + results[count], 0);
}
