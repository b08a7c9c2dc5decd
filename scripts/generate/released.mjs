// @ts-check
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { inProject } from '../lib/project.mjs';
import { say } from '../lib/say.mjs';

/**
 * Compares surface.txt with that of the last release that git knows here.
 *
 * @throws Error that has each line of the release that is gone and that CHANGELOG.md does not quote
 */
export function checkAgainstRelease() {
  const [tag = ''] = lines(git('tag', '--list', 'v[1-9]*', '--sort=-v:refname'));
  if (tag === '') return say('There is no tag of a release from 1.0.0 on to compare surface.txt with.');
  const kept = new Set(lines(readFileSync(inProject('surface.txt'), 'utf8')));
  const changelog = readFileSync(inProject('CHANGELOG.md'), 'utf8');
  const gone = lines(git('show', `${tag}:surface.txt`)).filter(
    (line) => !kept.has(line) && !changelog.includes(`\`${line}\``),
  );
  if (gone.length > 0)
    throw new Error(`${tag} has these, and CHANGELOG.md does not say why they are gone:\n${gone.join('\n')}`);
}

/** @param {string} text */
function lines(text) {
  return text.split('\n').filter(Boolean);
}

/** @param {string[]} args @returns {string} its output, empty if it fails */
function git(...args) {
  return spawnSync('git', args, { cwd: inProject('.'), encoding: 'utf8' }).stdout ?? '';
}
