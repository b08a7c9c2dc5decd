import { readFileSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { guardCells, guardMutations } from '../../security/guard-mutations.ts';

/**
 * `UPDATE_DOCS=1 npm run check -- docs` writes attacks and guards anew and keeps what their tests said;
 * for a new attack only `npm run weakened` knows that.
 */
const update = process.env['UPDATE_DOCS'] === '1';
const page = new URL('../../../docs/maintainers/attacks.md', import.meta.url);
const rows = /(<!-- attacks:.*?-->\n.*\n.*\n)([^]*)(<!-- \/attacks -->)/;

t.test('docs/maintainers/attacks.md names for every attack the line that guards against it', async (t) => {
  const text = readFileSync(page, 'utf8');
  const said = saidByGuard(text);
  const expected = guardMutations.map(
    (mutation) => `${guardCells(mutation)} ${said.get(guardCells(mutation)) ?? '?'} |\n`,
  );
  const inOrder = text.replace(rows, (_, start, __, end) => `${start}${expected.join('')}${end}`);
  if (update) writeFileSync(page, inOrder);
  t.equal(readFileSync(page, 'utf8'), inOrder);
  const untold = expected.filter((row) => row.endsWith('| ? |\n') || row.includes('**NOTHING**'));
  t.same(untold, [], 'every attack was noticed, and how stands there as `npm run weakened` printed it');
});

/** The third column, by the first two. */
function saidByGuard(text: string): ReadonlyMap<string, string> {
  const lines = (rows.exec(text)?.[2] ?? '').trim().split('\n');
  return new Map(
    lines.map((line) => {
      const [, attack = '', guard = '', said = ''] = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
      return [`| ${attack} | ${guard} |`, said];
    }),
  );
}
