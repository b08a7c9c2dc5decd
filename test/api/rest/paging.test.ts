// class: pure
import t from 'tap';
import { ProblemError } from '../../../src/domain/problem.ts';
import { readPage, writePage } from '../../../src/api/rest/paging.ts';

const id = '0190a0a0-0000-7000-8000-000000000001';
const page = { rows: [{ id: 'x' }, { id }], hasMore: true };

function cursorOf(list: readonly (string | undefined)[]): string {
  return (
    writePage(
      page,
      list,
      (row) => row.id,
      (row) => row,
    ).next_cursor ?? ''
  );
}

t.test('a cursor leads on from the last row of its page', (t) => {
  t.same(readPage({ cursor: cursorOf(['a']), limit: 7 }, ['a']), { limit: 7, after: id });
  t.match(cursorOf(['a']), /^[A-Za-z0-9_-]+$/, 'it needs no escaping in a query');
  t.same(readPage({}, ['a']), { limit: 50 });
  t.end();
});

t.test('the last page has no cursor', (t) => {
  t.same(
    writePage(
      { rows: [{ id }], hasMore: false },
      ['a'],
      (row) => row.id,
      (row) => row.id,
    ),
    {
      data: [id],
      has_more: false,
      next_cursor: null,
    },
  );
  t.end();
});

t.test('a page is at most 128 KB, and a larger row comes alone', (t) => {
  const row = (bytes: number) => ({ id, text: 'é'.repeat(bytes / 2) });
  const large = row(200_000);
  for (const [rows, taken] of [
    [Array.from({ length: 20 }, () => row(9_000)), 14],
    [[large, row(10)], 1],
    [[row(10), large], 1],
    [[large], 1],
    [[row(100_000)], 1],
  ] as const) {
    const { data, has_more, next_cursor } = writePage(
      { rows, hasMore: false },
      ['a'],
      (row) => row.id,
      (row) => row,
    );
    t.equal(data.length, taken);
    t.same([has_more, next_cursor !== null], Array(2).fill(taken < rows.length), 'the rest follows');
    const bytes = Buffer.byteLength(JSON.stringify({ data, has_more, next_cursor }));
    t.ok(data.length === 1 || bytes <= 128 * 1024, `${bytes} bytes`);
  }
  t.end();
});

t.test('a cursor is good for the list and the filters it came from alone', (t) => {
  t.equal(refusal(cursorOf(['a', 'active', undefined]), ['a', 'active', undefined]), undefined);
  for (const list of [
    ['b', 'active', undefined],
    ['a', undefined, 'active'],
    ['a', 'deactivated', undefined],
    ['a'],
  ]) {
    t.equal(refusal(cursorOf(['a', 'active', undefined]), list), '?cursor', JSON.stringify(list));
  }
  t.end();
});

t.test('a cursor that was made up is rejected', (t) => {
  const made = (content: unknown): string => Buffer.from(JSON.stringify(content)).toString('base64url');
  const [version, fingerprint, position] = JSON.parse(
    Buffer.from(cursorOf(['a']), 'base64url').toString(),
  ) as unknown[];
  t.equal(refusal(made([version, fingerprint, position]), ['a']), undefined, 'the control');
  for (const content of [
    null,
    {},
    [],
    [2, fingerprint, position],
    [version, fingerprint],
    [version, fingerprint, position, 1],
    [version, fingerprint, 5],
    [version, fingerprint, null],
    [version, fingerprint, 'not an id'],
    [version, fingerprint, `${id}' or 1=1`],
  ]) {
    t.equal(refusal(made(content), ['a']), '?cursor', JSON.stringify(content));
  }
  for (const text of ['', '-', 'null', '%00', cursorOf(['a']).slice(1), `${cursorOf(['a'])}AAAA`]) {
    t.equal(refusal(text, ['a']), '?cursor', text);
  }
  t.end();
});

function refusal(cursor: string, list: readonly (string | undefined)[]): string | undefined {
  try {
    readPage({ cursor }, list);
  } catch (error) {
    return error instanceof ProblemError ? error.problem.errors?.[0]?.pointer : String(error);
  }
  return undefined;
}
