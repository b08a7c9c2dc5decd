import t from 'tap';
import { readFileSync } from 'node:fs';

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

t.test('every test that docs/maintainers/spec-coverage.md names exists, in the file it names', async (t) => {
  const rows = read('docs/maintainers/spec-coverage.md')
    .split('\n')
    .filter((line) => line.startsWith('| ') && line.includes('`: '));
  t.ok(rows.length > 70);
  const named = rows.flatMap((row) => row.split(' | ').at(-1)?.replace(/ *\|$/, '').split('<br>') ?? []);
  const missing = named.filter((entry) => {
    const [, file, name] = /^ ?`([^`]+)`: (.+?) *$/.exec(entry) ?? [];
    return !(file && name && read(file).includes(name));
  });
  t.same(missing, []);
});
