// class: pure
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { FileFault, readCsv, type CsvRow } from '../../../src/cli/import/csv.ts';
import { readRows } from '../../../src/cli/import/rows.ts';
import { tempFolder } from '../../support/process.ts';

async function read(...chunks: readonly string[]): Promise<CsvRow[]> {
  const rows: CsvRow[] = [];

  const text = async function* (): AsyncGenerator<string> {
    yield* chunks;
  };
  for await (const row of readCsv(text())) rows.push(row);
  return rows;
}

const cell = fc.string({ unit: fc.constantFrom('a', 'ü', ' ', ',', '"', '\n', '\r\n'), maxLength: 6 });

t.test('what is written as RFC 4180 says is read as it was, however it is cut into pieces', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { maxLength: 6 }),
      fc.constantFrom('\n', '\r\n'),
      fc.integer({ min: 1, max: 7 }),
      fc.boolean(),
      async (rows, end, size, quoteAll) => {
        const quoted = (text: string): string =>
          quoteAll || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
        const text = rows.map((cells) => cells.map(quoted).join(',') + end).join('');
        const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
        const found = await read(...pieces);
        const lines = rows.map((_, i) => 1 + count(rows.slice(0, i).map(written).join('')) + i);
        return JSON.stringify(found) === JSON.stringify(rows.map((cells, i) => ({ line: lines[i], cells })));
      },
    ),
  );
});

function written(cells: readonly string[]): string {
  return cells.join('');
}

function count(text: string): number {
  return text.split('\n').length - 1;
}

t.test('empty lines are passed over, the last line needs no end, and an empty cell is one', async (t) => {
  t.same(await read('a,b\n\n\r\n,\n""\nc,'), [
    { line: 1, cells: ['a', 'b'] },
    { line: 4, cells: ['', ''] },
    { line: 5, cells: [''] },
    { line: 6, cells: ['c', ''] },
  ]);
  t.same(await read(''), []);
});

t.test('a quote out of place ends the reading, with its line', async (t) => {
  for (const [text, line] of [
    ['a\nb"c"\n', 2],
    ['a\n"b"c\n', 2],
    ['a\n"b\n\n', 2],
    ['a\n\n"b\r\nc"\n\n"d"e\n', 6],
    [`"${'x'.repeat(2_000_000)}`, 1],
    [`a\n${','.repeat(1_000)}\n`, 2],
  ] as const) {
    const error: unknown = await read(text).catch((thrown: unknown) => thrown);
    t.ok(error instanceof FileFault && error.line === line, text.slice(0, 20));
  }
});

t.test('no more of a row of commas is read than the cells that it may have', async (t) => {
  let pieces = 0;
  const commas = async function* (): AsyncGenerator<string> {
    for (; pieces < 10_000; pieces++) yield ','.repeat(1_000);
  };
  await t.rejects(readCsv(commas()).next(), { line: 1, message: 'The row has too many cells.' });
  t.ok(pieces < 100, `${pieces} pieces`);
});

t.test('a column that no object can hold as a member is a fault of the heading', async (t) => {
  const path = join(tempFolder(t), 'accounts.csv');
  const rows = async (heading: string) => {
    writeFileSync(path, `${heading}\nAda,gold\n`);
    const found = [];
    for await (const row of readRows({ path, format: 'csv', type: 'account' })) found.push(row);
    return found;
  };
  t.same(await rows('name,metadata.__proto__'), [
    { line: 1, fault: '`metadata.__proto__` is not an acceptable name.' },
  ]);
  t.same(await rows('name,metadata.proto'), [
    { line: 2, type: 'account', row: { name: 'Ada', metadata: { proto: 'gold' } } },
  ]);
});
