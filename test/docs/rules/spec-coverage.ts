import t from 'tap';
import { readFileSync } from 'node:fs';

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

t.test('every test that docs/maintainers/spec-coverage.md names exists, in the file it names', async (t) => {
  const rows = read('docs/maintainers/spec-coverage.md')
    .split('\n')
    .filter((line) => line.startsWith('| ') && line.includes('`: '));
  t.ok(rows.length > 70);
  for (const row of rows) {
    const named = row.split(' | ').at(-1)?.replace(/ *\|$/, '').split('<br>') ?? [];
    for (const entry of named) {
      const [, file, name] = /^ ?`([^`]+)`: (.+?) *$/.exec(entry) ?? [];
      t.ok(file && name && read(file).includes(name), entry);
    }
  }
});
