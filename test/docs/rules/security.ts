import { readFileSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { guardCells, guardMutations, saidByGuard, securityPage } from '../../security/guard-mutations.ts';

/**
 * `UPDATE_DOCS=1 npm run check -- docs` writes attacks and guards anew and keeps what their tests said;
 * for a new attack only `npm run weakened` knows that.
 */
const update = process.env['UPDATE_DOCS'] === '1';
const rows = /(<!-- attacks:.*?-->\n.*\n.*\n)([^]*)(<!-- \/attacks -->)/;

t.test('docs/maintainers/attacks.md names for every attack the line that guards against it', async (t) => {
  const text = readFileSync(securityPage, 'utf8');
  const said = saidByGuard();
  const expected = guardMutations.map(
    (mutation) => `${guardCells(mutation)} ${said.get(guardCells(mutation)) ?? '?'} |\n`,
  );
  const inOrder = text.replace(rows, (_, start, __, end) => `${start}${expected.join('')}${end}`);
  if (update) writeFileSync(securityPage, inOrder);
  t.equal(readFileSync(securityPage, 'utf8'), inOrder);
  const untold = expected.filter((row) => row.endsWith('| ? |\n') || row.includes('**NOTHING**'));
  t.same(untold, [], 'every attack was noticed, and how stands there as `npm run weakened` printed it');
});
