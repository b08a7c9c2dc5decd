// class: pure
import fc from 'fast-check';
import t from 'tap';
import type { AccountId, KeyId } from '../../../src/domain/ids.ts';
import type { UsageRow } from '../../../src/domain/usage.ts';
import { firstLine, lineOf, OpenBatch, rowsOf, UnknownFormat } from '../../../src/usage/journal/batch.ts';

const count = fc.nat(1_000_000_000);
/** What one turn changes: rows by number, each with what is added to it. */
const turn = fc.array(fc.tuple(fc.nat(5), count, count, count, count, count, count), {
  minLength: 1,
  maxLength: 6,
});

/** The file of some turns, and what it should read as after each of them, by the length it has then. */
function written(turns: readonly (readonly number[][])[]): { text: string; after: Map<number, UsageRow[]> } {
  const batch = new OpenBatch();
  let text = firstLine;
  const after = new Map<number, UsageRow[]>([[text.length, []]]);
  for (const changes of turns) {
    const defined = batch.rows.length;
    for (const [
      number = 0,
      reads = 0,
      writes = 0,
      errors = 0,
      bytesIn = 0,
      bytesOut = 0,
      units = 0,
    ] of changes) {
      const accountId = `a${number % 2}` as AccountId;
      const by = { accountId, parentId: `p${number % 2}` as AccountId, keyId: `k${number}` as KeyId };
      const row = batch.find(by, 3_600_000) ?? batch.add(by, 3_600_000);
      row.requests += reads + writes;
      row.reads += reads;
      row.writes += writes;
      row.clientErrors += errors;
      row.serverErrors += errors;
      row.bytesIn += bytesIn;
      row.bytesOut += bytesOut;
      if (number % 3 === 0) row.units += units;
      row.lastUsedMs += 1;
      if (number % 2 === 0 && writes > 0) {
        row.writesByDefault += writes;
        row.lastWriteByDefaultMs += 1;
      }
      batch.note(row);
    }
    text += lineOf(batch.changed, defined);
    batch.written();
    after.set(text.length, structuredClone(batch.rows));
  }
  return { text, after };
}

t.test('a file that is cut anywhere reads as the turns that are whole in it', async (t) => {
  fc.assert(
    fc.property(fc.array(turn, { maxLength: 8 }), fc.nat(), (turns, cut) => {
      const { text, after } = written(turns);
      const length = cut % (text.length + 1);
      const whole = Math.max(...[...after.keys()].filter((end) => end <= length), 0);
      t.strictSame(rowsOf(text.slice(0, length)), after.get(whole) ?? []);
    }),
    { numRuns: 500 },
  );
});

t.test('a line that could not have been written here ends the file, and no part of it counts', async (t) => {
  const { text, after } = written([[[0, 1, 2, 3, 4, 5]], [[1, 1, 1, 1, 1, 1]]]);
  const rows = after.get(text.length);
  const bad = [
    '\0\0\0\0',
    '0,1,2',
    '7,1,1,1,1,1,1,1;',
    '0,1,1,1,1,1,1,1',
    '=3,a,p,k,0;',
    '=2,a,k,0;',
    '=2,a,p,k,0;2,1,1,1,1,1,1,-1;',
    '0,9,9,9,9,9,9,9;1,x,1,1,1,1,1,1;',
    '0,1e3,1,1,1,1,1,1;',
    '0,1,1,1,1,1,1,1,1,1,1,1;',
  ];
  for (const line of bad) t.strictSame(rowsOf(`${text}${line}\n0,9,9,9,9,9,9,9;\n`), rows, line);
});

t.test('a file of another version is not read as empty', async (t) => {
  for (const number of [1, 2, 3, 5])
    t.throws(() => rowsOf(`tenancy-gateway usage ${number}\n`), UnknownFormat);
  t.strictSame(rowsOf(''), []);
});
