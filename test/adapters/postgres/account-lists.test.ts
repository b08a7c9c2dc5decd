// class: app
/** Lists of accounts in pages: with ids that do not sort by time and times that are the same. */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { readPage, writePage } from '../../../src/api/rest/paging.ts';
import type { AccountId } from '../../../src/domain/ids.ts';
import type { Page, PageQuery } from '../../../src/ports/tenant-store.ts';
import { newAccountId } from '../../support/drafts.ts';
import { createParent, createSub, freshStore } from '../../support/store.ts';

const { store, sql } = await freshStore(t);
const { tenants } = store;

interface Row {
  readonly id: AccountId;
  readonly createdAt: Date;
  readonly status: string;
}

/** Rows of a parent made behind the store's back. */
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

type List = (page: PageQuery) => Promise<Page<{ readonly id: AccountId }>>;

/** The ids of all pages, with cursors as clients get and send them. */
async function walk(list: List, limits: readonly number[]): Promise<AccountId[]> {
  const ids: AccountId[] = [];
  for (let cursor: string | undefined, i = 0; ; i++) {
    const limit = limits[i % limits.length] ?? 1;
    const idOf = ({ id }: { readonly id: AccountId }) => id;
    const asked = readPage({ limit, ...(cursor !== undefined && { cursor }) }, ['list']);
    const page = writePage(await list(asked), ['list'], idOf, idOf);
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
  const { store, sql } = await freshStore(t);
  for (let i = 0; i < 9; i++) {
    const parent = await createParent(store.tenants, { id: randomUUID() as AccountId });
    await createSub(store.tenants, parent.id, { id: randomUUID() as AccountId });
  }
  const expected = await sql<{ id: AccountId }[]>`
    select id from account where parent_id is null order by created_at desc, id desc`;
  t.equal(expected.length, 9);
  t.same(
    await walk((page) => store.tenants.listParents({}, page), [2]),
    expected.map(({ id }) => id),
  );
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
