import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { inProject } from '../lib/project.mjs';
import { say } from '../lib/say.mjs';
import { goneUnannounced } from './surface.ts';

/**
 * Compares surface.txt and the schema with those of the last release that git knows here.
 *
 * @throws Error that has each line of the release that is gone and that CHANGELOG.md does not quote, or each file of the
 * released base and steps that is not as it was: databases are known by their text
 */
export function checkAgainstRelease(): void {
  const [tag] = git('tag', '--list', 'v[1-9]*', '--sort=-v:refname').split('\n');
  if (!tag) {
    say('There is no tag of a release from 1.0.0 on to compare surface.txt with.');
    return;
  }
  const [present, changelog] = [read('surface.txt'), read('CHANGELOG.md')];
  const gone = goneUnannounced({ released: git('show', `${tag}:surface.txt`), present, changelog });
  const schema = 'src/adapters/postgres/schema';
  const base = git('diff', '--name-only', tag, '--', `${schema}/base`);
  const steps = git('diff', '--name-only', '--diff-filter=a', tag, '--', `${schema}/steps`);
  if (base + steps !== '') throw new Error(`${tag} was released with other texts of these:\n${base}${steps}`);
  if (gone.length > 0)
    throw new Error(`${tag} has these, and CHANGELOG.md does not say why they are gone:\n${gone.join('\n')}`);
}

function read(file: string): string {
  return readFileSync(inProject(file), 'utf8');
}

function git(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: inProject('.'), encoding: 'utf8' });
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
  return stdout;
}
