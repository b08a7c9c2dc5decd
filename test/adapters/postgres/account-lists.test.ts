// class: app
/** Lists of accounts in pages: with ids that do not sort by time, times that are the same, and cursors of 0.1.0. */
import { createHash, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { readAccountPage, writeAccountPage } from '../../../src/api/rest/account-pages.ts';
import { writePage } from '../../../src/api/rest/paging.ts';
import type { AccountId } from '../../../src/domain/ids.ts';
import type { AccountPageQuery, Page } from '../../../src/ports/tenant-store.ts';
import { createParent, createSub, freshStore, newAccountId, rawSql } from '../../support/store.ts';

const { url, store } = await freshStore(t);
const { tenants } = store;
const sql = rawSql(t, url);

interface Row {
  readonly id: AccountId;
  readonly createdAt: Date;
  readonly status: string;
}

/** Rows of a parent made behind the store's back, as replicas of any version may have left them. */
async function fill(parent: AccountId | null, rows: readonly Row[]): Promise<void> {
  const counts = parent === null ? { sub_accounts: 0, active_sub_accounts: 0 } : {};
  for (const { id, createdAt, status } of rows) {
    await sql`insert into account ${sql({
      id,
      parent_id: parent,
      name: 'Filled',
      status,
      created_at: createdAt,
      ...(status === 'deactivated' && { deactivated_at: createdAt }),
      ...counts,
    })}`;
  }
}

type List = (page: AccountPageQuery) => Promise<Page<{ readonly id: AccountId }>>;

/** The ids of all pages, with cursors as clients get and send them. */
async function walk(list: List, limits: readonly number[]): Promise<AccountId[]> {
  const ids: AccountId[] = [];
  for (let cursor: string | undefined, i = 0; ; i++) {
    const limit = limits[i % limits.length] ?? 1;
    const asked = readAccountPage({ limit, ...(cursor !== undefined && { cursor }) }, ['list']);
    const page = writeAccountPage(await list(asked), ['list'], asked, ({ id }) => id);
    ids.push(...page.data);
    if (page.next_cursor === null) return ids;
    cursor = page.next_cursor;
  }
}

const newestFirst = (a: Row, b: Row): number =>
  b.createdAt.getTime() - a.createdAt.getTime() || (a.id < b.id ? 1 : -1);

const someRows = fc.array(
  fc.record({
    // Few instants, so that many rows share one.
    second: fc.integer({ min: 0, max: 4 }),
    given: fc.boolean(),
    off: fc.boolean(),
  }),
  { minLength: 1, maxLength: 25 },
);
const someLimits = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 3 });

t.test('pages go by time and id, whatever the ids are, and neither repeat nor skip a row', async (t) => {
  await fc.assert(
    fc.asyncProperty(someRows, someLimits, async (drafts, limits) => {
      const parent = (await createParent(tenants)).id;
      const rows = drafts.map(({ second, given, off }) => ({
        id: given ? (randomUUID() as AccountId) : newAccountId(),
        createdAt: new Date(Date.UTC(2026, 0, 1, 0, 0, second)),
        status: off ? 'deactivated' : 'active',
      }));
      await fill(parent, rows);
      const expected = rows.toSorted(newestFirst);
      const ids = expected.map(({ id }) => id);
      t.same(await walk((page) => tenants.listSubAccounts(parent, {}, page), limits), ids);
      t.same(
        await walk((page) => tenants.listSubAccounts(parent, { status: 'active' }, page), limits),
        expected.filter(({ status }) => status === 'active').map(({ id }) => id),
      );
    }),
    { numRuns: Number(process.env['LIST_RUNS'] ?? 20) },
  );
});

t.test('parents are listed in the same way, apart from sub-accounts', async (t) => {
  const { url, store } = await freshStore(t);
  for (let i = 0; i < 9; i++) {
    const parent = await createParent(store.tenants, { id: randomUUID() as AccountId });
    await createSub(store.tenants, parent.id, { id: randomUUID() as AccountId, idGiven: true });
  }
  const expected = await rawSql(t, url)<{ id: AccountId }[]>`
    select id from account where parent_id is null order by created_at desc, id desc`;
  t.equal(expected.length, 9);
  t.same(
    await walk((page) => store.tenants.listParents({}, page), [2]),
    expected.map(({ id }) => id),
  );
});

t.test('a walk that was begun on 0.1.0 goes on by id, and skips nothing', async (t) => {
  const parent = (await createParent(tenants)).id;
  // Two replicas whose clocks differ: what is newer by its id is older by the database.
  const rows = Array.from({ length: 12 }, (_, i) => ({
    id: newAccountId(),
    createdAt: new Date(Date.UTC(2026, 0, 1, 0, 0, i % 2 === 0 ? i + 3 : i)),
    status: 'active',
  }));
  await fill(parent, rows);
  const byId = rows.map(({ id }) => id).toReversed();
  const first = { rows: byId.slice(0, 5).map((id) => ({ id })), hasMore: true };
  let cursor = writePage(
    first,
    ['list'],
    ({ id }) => id,
    ({ id }) => id,
  ).next_cursor;
  const rest: AccountId[] = [];
  while (cursor !== null) {
    const asked = readAccountPage({ limit: 3, cursor }, ['list']);
    t.equal(asked.byId, true);
    const page = await tenants.listSubAccounts(parent, {}, asked);
    const written = writeAccountPage(page, ['list'], asked, ({ id }) => id);
    rest.push(...written.data);
    cursor = written.next_cursor;
  }
  t.same(rest, byId.slice(5));
});

t.test('0.1.0 reads the cursors of this version', async (t) => {
  const id = newAccountId();
  const page = { rows: [{ id }], hasMore: true };
  const { next_cursor: cursor } = writeAccountPage(page, ['list'], { limit: 1 }, (row) => row.id);
  // What it takes a cursor for: JSON of three members, the last one a UUID.
  const content = JSON.parse(Buffer.from(cursor ?? '', 'base64url').toString()) as unknown;
  const fingerprint = createHash('sha256')
    .update(JSON.stringify(['list']))
    .digest('base64url')
    .slice(0, 12);
  t.same(content, [1, fingerprint, id]);
  t.match(cursor, /^[A-Za-z0-9_-]+$/);
});

t.test(
  'a cursor whose account is gone begins the list again, and says nothing of other parents',
  async (t) => {
    const [parent, other] = [(await createParent(tenants)).id, (await createParent(tenants)).id];
    const made = [(await createSub(tenants, parent)).value.id, (await createSub(tenants, parent)).value.id];
    const foreign = (await createSub(tenants, other)).value.id;
    for (const after of [newAccountId(), foreign, parent]) {
      const { rows } = await tenants.listSubAccounts(parent, {}, { limit: 9, after });
      t.same(
        rows.map(({ id }) => id),
        made.toReversed(),
      );
    }
  },
);
