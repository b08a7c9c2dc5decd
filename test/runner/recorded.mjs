// @ts-check
/**
 * What each file and each lane took when it was last recorded (`npm test -- --lane ci --record`): for the order of files,
 * the time that is left, and the budgets of lanes.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { inProject } from '../../scripts/lib/project.mjs';

const RECORD = inProject('test/runner/recorded.tsv');

/** @typedef {{ seconds: number, processorSeconds: number }} Taken */

const recorded = read();

/**
 * What a file took, or `lane X`, whose processor time is in pieces of work.
 * @param {string} name
 * @returns {Taken | undefined}
 */
export function takenBy(name) {
  return recorded.get(name);
}

/**
 * Keeps new figures, and the former ones of files that there still are.
 * @param {[string, Taken][]} entries
 */
export function record(entries) {
  // The tests run in a process of their own, which may have recorded files meanwhile.
  const taken = read();
  for (const [name, figures] of entries) taken.set(name, figures);
  const lines = [...taken]
    .filter(([name]) => name.startsWith('lane ') || existsSync(inProject(name)))
    .map(([name, { seconds, processorSeconds }]) => [name, seconds.toFixed(1), processorSeconds.toFixed(1)])
    .map((fields) => `${fields.join('\t')}\n`);
  writeFileSync(RECORD, lines.sort().join(''));
}

/** @returns {Map<string, Taken>} */
function read() {
  const lines = (existsSync(RECORD) ? readFileSync(RECORD, 'utf8') : '').split('\n');
  return new Map(
    lines
      .filter((line) => line !== '')
      .map((line) => {
        const [name = '', seconds, processorSeconds] = line.split('\t');
        return [name, { seconds: Number(seconds), processorSeconds: Number(processorSeconds) }];
      }),
  );
}
