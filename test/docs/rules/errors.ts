import t from 'tap';
import { readFileSync } from 'node:fs';
import { catalogue } from '../../../src/domain/problem.ts';

const page = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8');

t.test(
  'docs/errors.md has one row for every code of the catalogue, with its status, and no other',
  async (t) => {
    const rows = [...page.matchAll(/^\| `([a-z_]+)` +\| (\d{3}) +\|/gm)].map((row) => [
      row[1],
      Number(row[2]),
    ]);
    const codes = Object.entries(catalogue).map(([code, { status }]) => [code, status]);
    t.same(rows, codes, 'in the order of the catalogue');
  },
);
