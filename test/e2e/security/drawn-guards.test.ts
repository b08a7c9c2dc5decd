// class: hostile
import { execFileSync } from 'node:child_process';
import t from 'tap';
import { missesGuards } from './missed-guards.ts';

t.test('six attacks, drawn by the commit, are noticed where their guard is taken away', async (t) => {
  const seed = execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).trim();
  t.equal(await missesGuards(t, '--drawn', '6', '--seed', seed), 6, `drawn by ${seed}`);
});
