/** What every tenant store does; run by the test file of each adapter. */
import { randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import { mergeMetadata, type Metadata } from '../../src/domain/account.ts';
import type { AccountId } from '../../src/domain/ids.ts';
import type { Page, PageQuery } from '../../src/ports/tenant-store.ts';
import type { Store } from '../../src/adapters/postgres/store.ts';
import {
  createKey,
  createParent,
  createSub,
  keyDraft,
  newAccountId,
  newKeyId,
  problemCode,
  subAccountDraft,
} from '../support/store.ts';

export async function tenantStoreContract(t: Test, { tenants }: Store): Promise<void> {
  const noLimit = 1_000_000;

  await t.test('a parent is what was created, and only a parent', async (t) => {
    const parent = await createParent(tenants);
    t.match(parent, {
      name: 'Parent',
      externalId: null,
      status: 'active',
      metadata: {},
      activeSubAccounts: 0,
    });
    t.same(await tenants.getParent(parent.id), parent);
    const { value: sub } = await createSub(tenants, parent.id);
    t.equal(await tenants.getParent(sub.id), null);
    t.equal(await tenants.getParent(newAccountId()), null);
    t.equal((await tenants.getParent(parent.id))?.activeSubAccounts, 1);
  });

  await t.test('a parent has an id, an external_id and metadata of the operator’s', async (t) => {
    const id = randomUUID() as AccountId;
    const draft = { id, name: 'Named', externalId: `Ext/${id}`, metadata: { ü: '"\\' } };
    const made = await tenants.createParent(draft);
    t.match(made, { value: draft, seq: null });
    t.same(await tenants.getParent(id), 'value' in made && made.value);
    t.same(await tenants.createParent({ id, name: 'Again' }), { idTaken: true });
    const other = await createParent(tenants);
    const { value: sub } = await createSub(tenants, other.id, { externalId: draft.externalId });
    t.same(await tenants.createParent({ ...draft, id: sub.id, externalId: null }), { idTaken: true });
    t.same(await tenants.createParent({ ...draft, id: newAccountId() }), { taken: id });
    t.same(await tenants.updateParent(other.id, { externalId: draft.externalId }), { taken: id });
    t.same(await tenants.createSubAccount(other.id, { ...subAccountDraft({ id }), idGiven: true }, noLimit), {
      idTaken: true,
    });
    t.equal((await tenants.getParent(other.id))?.activeSubAccounts, 1, 'what was not made does not count');
  });

  await t.test('of many parents with one external_id exactly one wins, and the others name it', async (t) => {
    const results = await Promise.all(
      Array.from({ length: 20 }, () =>
        tenants.createParent({ id: newAccountId(), name: 'N', externalId: 'contended' }),
      ),
    );
    const winners = results.flatMap((result) => ('value' in result ? [result.value.id] : []));
    t.equal(winners.length, 1);
    t.equal(results.filter((result) => 'taken' in result && result.taken === winners[0]).length, 19);
  });

  await t.test('parents may exchange their external_ids at the same time', async (t) => {
    const [a, b] = [
      await createParent(tenants, { externalId: 'left' }),
      await createParent(tenants, { externalId: 'right' }),
    ];
    for (let i = 0; i < 10; i++) {
      await Promise.all([
        tenants.updateParent(a.id, { externalId: i % 2 === 0 ? 'right' : 'left' }),
        tenants.updateParent(b.id, { externalId: i % 2 === 0 ? 'left' : 'right' }),
        tenants.updateParent(a.id, { externalId: null }),
        tenants.updateParent(b.id, { externalId: null }),
      ]);
    }
    const names = [await tenants.getParent(a.id), await tenants.getParent(b.id)].map(
      (each) => each?.externalId,
    );
    t.ok(names[0] === null || names[0] !== names[1], String(names));
  });

  await t.test('a change of a parent leaves what it does not name, and null clears', async (t) => {
    const { id } = await createParent(tenants, { externalId: 'patched', metadata: { a: '1' } });
    t.match(await tenants.updateParent(id, { name: 'New' }), {
      value: { name: 'New', externalId: 'patched', metadata: { a: '1' } },
      seq: null,
    });
    t.match(await tenants.updateParent(id, { metadata: { a: null, b: '2' } }), {
      value: { metadata: { b: '2' } },
    });
    const full = Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`k${i}`, 'v']));
    t.equal(await tenants.updateParent(id, { metadata: full }), 'too-many-pairs');
    t.match(await tenants.updateParent(id, { externalId: null }), { value: { externalId: null } });
    t.match(await tenants.updateParent(id, { externalId: 'patched' }), { value: { externalId: 'patched' } });
    const { value: sub } = await createSub(tenants, id);
    t.equal(await tenants.updateParent(sub.id, { name: 'Stolen' }), null, 'a sub-account is no parent');
    t.equal(await tenants.updateParent(newAccountId(), { name: 'Stolen' }), null);
  });

  await t.test('parents are listed newest first', async (t) => {
    const made = [await createParent(tenants), await createParent(tenants)].map(({ id }) => id);
    const page = await tenants.listParents({}, { limit: 2 });
    t.same(
      page.rows.map(({ id }) => id),
      made.sort().reverse(),
    );
    t.equal(page.hasMore, true);
  });

  await t.test('a sub-account is what was created, and no other parent sees it', async (t) => {
    const parent = await createParent(tenants);
    const otherParent = await createParent(tenants);
    const draft = subAccountDraft({
      name: 'Ünï 🚚',
      externalId: 'A:b/~!',
      metadata: { k: 'v', __proto__x: '' },
    });
    const made = await createSub(tenants, parent.id, draft);
    t.match(made.value, { ...draft, parentId: parent.id, status: 'active', deactivatedAt: null });
    t.same(await tenants.getSubAccount(parent.id, draft.id), made.value);
    t.equal(await tenants.getSubAccount(otherParent.id, draft.id), null);
    t.equal(await tenants.getSubAccount(parent.id, parent.id), null);
  });

  await t.test('an external_id is taken once under a parent, deactivated or not', async (t) => {
    const parent = await createParent(tenants);
    const otherParent = await createParent(tenants);
    const { value: first } = await createSub(tenants, parent.id, { externalId: 'one' });
    await tenants.setSubAccountStatus(parent.id, first.id, 'deactivated');
    const draft = subAccountDraft({ externalId: 'one' });
    t.same(await tenants.createSubAccount(parent.id, draft, noLimit), { taken: first.id });
    t.equal(await tenants.getSubAccount(parent.id, draft.id), null);
    await createSub(tenants, otherParent.id, { externalId: 'one' });
    const { value: second } = await createSub(tenants, parent.id, { externalId: 'One' });
    t.same(await tenants.updateSubAccount(parent.id, second.id, { externalId: 'one' }), { taken: first.id });
    t.equal((await tenants.getSubAccount(parent.id, second.id))?.externalId, 'One');
  });

  await t.test('of many creates with one external_id exactly one wins, and the others name it', async (t) => {
    const parent = await createParent(tenants);
    const results = await Promise.all(
      Array.from({ length: 50 }, () =>
        tenants.createSubAccount(parent.id, subAccountDraft({ externalId: 'contended' }), noLimit),
      ),
    );
    const winners = results.flatMap((result) => ('value' in result ? [result.value.id] : []));
    t.equal(winners.length, 1);
    t.equal(results.filter((result) => 'taken' in result && result.taken === winners[0]).length, 49);
    t.equal((await tenants.getParent(parent.id))?.activeSubAccounts, 1);
  });

  await t.test('the limit holds under concurrency and counts deactivated ones', async (t) => {
    const parent = await createParent(tenants);
    const results = await Promise.all(
      Array.from({ length: 12 }, () => tenants.createSubAccount(parent.id, subAccountDraft(), 5)),
    );
    const made = results.flatMap((result) => ('value' in result ? [result.value.id] : []));
    t.equal(made.length, 5);
    t.same(
      results.filter((result) => 'limit' in result),
      Array.from({ length: 7 }, () => ({ limit: 5 })),
    );
    await tenants.setSubAccountStatus(parent.id, made[0] as AccountId, 'deactivated');
    t.same(await tenants.createSubAccount(parent.id, subAccountDraft(), 5), { limit: 5 });
  });

  await t.test('a change leaves what it does not name, and null clears', async (t) => {
    const parent = await createParent(tenants);
    const { value: old } = await createSub(tenants, parent.id, {
      name: 'Old',
      externalId: 'x',
      metadata: { a: '1' },
    });
    const renamed = await tenants.updateSubAccount(parent.id, old.id, { name: 'New' });
    t.match(renamed, { value: { name: 'New', externalId: 'x', metadata: { a: '1' } }, seq: null });
    t.match(await tenants.updateSubAccount(parent.id, old.id, { externalId: null }), {
      value: { name: 'New', externalId: null },
    });
    t.match(await tenants.updateSubAccount(parent.id, old.id, { externalId: 'x' }), {
      value: { externalId: 'x' },
    });
    t.equal(await tenants.updateSubAccount(newAccountId(), old.id, { name: 'Stolen' }), null);
    t.equal(await tenants.updateSubAccount(parent.id, parent.id, { name: 'Stolen' }), null);
    t.equal((await tenants.getSubAccount(parent.id, old.id))?.name, 'New');
  });

  await t.test('metadata merges as the domain says', async (t) => {
    const parent = await createParent(tenants);
    const full: Metadata = Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`k${i}`, 'v']));
    const cases: readonly [Metadata, Record<string, string | null>][] = [
      [{}, { a: '1' }],
      [
        { a: '1', b: '2' },
        { a: null, c: '3' },
      ],
      [{ a: '1' }, { missing: null }],
      [full, { k0: 'changed' }],
      [full, { k0: null, fresh: 'v' }],
      [full, { fresh: 'v' }],
      [{ a: '"\\' }, { 'ü b': '{"x":null}' }],
    ];
    for (const [before, change] of cases) {
      const { value: sub } = await createSub(tenants, parent.id, { metadata: before });
      const result = await tenants.updateSubAccount(parent.id, sub.id, { metadata: change });
      const merged = mergeMetadata(before, change);
      if (merged === undefined) t.equal(result, 'too-many-pairs');
      else t.match(result, { value: { metadata: merged } });
      t.same((await tenants.getSubAccount(parent.id, sub.id))?.metadata, merged ?? before);
    }
  });

  await t.test('deactivating and reactivating is idempotent', async (t) => {
    const parent = await createParent(tenants);
    const { value: sub } = await createSub(tenants, parent.id);
    const off = await tenants.setSubAccountStatus(parent.id, sub.id, 'deactivated');
    t.match(off, { value: { status: 'deactivated', deactivatedAt: Date } });
    t.same((await tenants.setSubAccountStatus(parent.id, sub.id, 'deactivated'))?.value, off?.value);
    const on = await tenants.setSubAccountStatus(parent.id, sub.id, 'active');
    t.match(on, { value: { status: 'active', deactivatedAt: null } });
    t.same((await tenants.setSubAccountStatus(parent.id, sub.id, 'active'))?.value, on?.value);
    t.equal(await tenants.setSubAccountStatus(newAccountId(), sub.id, 'deactivated'), null);
    t.equal((await tenants.getParent(parent.id))?.activeSubAccounts, 1);
  });

  await t.test('the active count stays right whatever runs at the same time', async (t) => {
    const parent = await createParent(tenants);
    const subs = await Promise.all(Array.from({ length: 10 }, () => createSub(tenants, parent.id)));
    const toggles = subs.flatMap(({ value }, i) =>
      (['deactivated', 'active', 'deactivated', 'active'] as const).map(
        (status) => [value.id, status, i] as const,
      ),
    );
    await Promise.all(toggles.map(([id, status]) => tenants.setSubAccountStatus(parent.id, id, status)));
    const { rows } = await tenants.listSubAccounts(parent.id, { status: 'active' }, { limit: 100 });
    t.equal((await tenants.getParent(parent.id))?.activeSubAccounts, rows.length);
    await Promise.all(
      subs.flatMap(({ value }) =>
        [1, 2].map(() => tenants.setSubAccountStatus(parent.id, value.id, 'deactivated')),
      ),
    );
    t.equal((await tenants.getParent(parent.id))?.activeSubAccounts, 0);
  });

  await t.test('a key belongs to one account, and revoking is idempotent', async (t) => {
    const parent = await createParent(tenants);
    const expiresAt = new Date('2030-01-02T03:04:05.678Z');
    const draft = keyDraft({ name: 'CI', scopes: ['tracking:read', 'a.b*-_'], expiresAt });
    const key = await tenants.createKey(parent.id, draft, 10);
    const { digest: _digest, clientSecretDigest: _secret, ...visible } = draft;
    t.match(key, { ...visible, accountId: parent.id, revokedAt: null, lastUsedAt: null });
    t.same(await tenants.listKeys(parent.id, { limit: 10 }), { rows: [key], hasMore: false });
    t.equal(await tenants.revokeKey(newAccountId(), draft.id), null);
    t.equal(await tenants.revokeKey(parent.id, newKeyId()), null);
    const revoked = await tenants.revokeKey(parent.id, draft.id);
    t.match(revoked, { value: { id: draft.id, revokedAt: Date } });
    t.same((await tenants.revokeKey(parent.id, draft.id))?.value, revoked?.value);
    t.equal(await tenants.createKey(newAccountId(), keyDraft(), 10), null);
  });

  await t.test('the limit of keys holds under concurrency, and a revoked key makes room', async (t) => {
    const { id } = await createParent(tenants);
    const results = await Promise.all(Array.from({ length: 6 }, () => tenants.createKey(id, keyDraft(), 3)));
    const made = results.flatMap((result) => (result !== null && 'id' in result ? [result.id] : []));
    t.equal(made.length, 3);
    await tenants.revokeKey(id, made[0] ?? newKeyId());
    t.match(await tenants.createKey(id, keyDraft(), 3), { accountId: id });
    t.same(await tenants.createKey(id, keyDraft(), 3), { limit: 3 });
  });

  await t.test('pages neither repeat nor skip a row while others come and change', async (t) => {
    const parent = await createParent(tenants);
    const before: string[] = [];
    for (let i = 0; i < 25; i++) before.push((await createSub(tenants, parent.id)).value.id);
    const seen = await everyPage(
      (page) => tenants.listSubAccounts(parent.id, {}, page),
      10,
      async (row) => {
        await createSub(tenants, parent.id);
        await tenants.setSubAccountStatus(parent.id, row.id, 'deactivated');
      },
    );
    t.same(seen, before.sort().reverse());
  });

  await t.test('a last page that is full says that it is the last', async (t) => {
    const { id } = await createParent(tenants);
    for (let i = 0; i < 4; i++) await createKey(tenants, id);
    const first = await tenants.listKeys(id, { limit: 2 });
    const second = await tenants.listKeys(id, { limit: 2, after: first.rows[1]?.id ?? '' });
    t.same([first.hasMore, second.hasMore, second.rows.length], [true, false, 2]);
  });

  await t.test('filters narrow a list, together too', async (t) => {
    const parent = await createParent(tenants);
    const { value: on } = await createSub(tenants, parent.id, { externalId: 'on' });
    const { value: off } = await createSub(tenants, parent.id, { externalId: 'off' });
    await tenants.setSubAccountStatus(parent.id, off.id, 'deactivated');
    const ids = async (filter: Parameters<typeof tenants.listSubAccounts>[1]): Promise<string[]> =>
      (await tenants.listSubAccounts(parent.id, filter, { limit: 10 })).rows.map(({ id }) => id);
    t.same(await ids({ status: 'active' }), [on.id]);
    t.same(await ids({ status: 'deactivated' }), [off.id]);
    t.same(await ids({ externalId: 'off' }), [off.id]);
    t.same(await ids({ externalId: 'off', status: 'active' }), []);
    t.same(await ids({ externalId: 'OFF' }), []);
  });

  await t.test('sub-accounts are found by the start of their name and by their metadata', async (t) => {
    const parent = await createParent(tenants);
    const make = async (name: string, metadata: Metadata): Promise<string> =>
      (await createSub(tenants, parent.id, { name, metadata })).value.id;
    const a = await make('Blue Sky', { plan: 'gold', region: 'eu' });
    const b = await make('blueprint', { plan: 'gold' });
    const c = await make('100%_\\', { plan: '' });
    const ids = async (filter: Parameters<typeof tenants.listSubAccounts>[1]): Promise<string[]> =>
      (await tenants.listSubAccounts(parent.id, filter, { limit: 10 })).rows.map(({ id }) => id);
    t.same(await ids({ nameStart: 'BLUE' }), [b, a]);
    t.same(await ids({ nameStart: 'blue ' }), [a]);
    t.same(await ids({ nameStart: 'sky' }), []);
    t.same(await ids({ nameStart: '%' }), []);
    t.same(await ids({ nameStart: '100%_\\' }), [c]);
    t.same(await ids({ metadata: { plan: 'gold' } }), [b, a]);
    t.same(await ids({ metadata: { plan: 'gold', region: 'eu' } }), [a]);
    t.same(await ids({ metadata: { plan: '' } }), [c]);
    t.same(await ids({ metadata: { plan: 'Gold' } }), []);
    t.same(await ids({ nameStart: 'b', metadata: { plan: 'gold' }, status: 'deactivated' }), []);
  });

  await t.test('a text that cannot be stored is rejected as invalid', async (t) => {
    const parent = await createParent(tenants);
    t.equal(
      await problemCode(tenants.createSubAccount(parent.id, subAccountDraft({ name: 'a\0b' }), noLimit)),
      'invalid_request',
    );
    t.equal(
      await problemCode(
        tenants.createSubAccount(parent.id, subAccountDraft({ metadata: { a: '\0' } }), noLimit),
      ),
      'invalid_request',
    );
    t.equal(
      await problemCode(
        tenants.createSubAccount(parent.id, subAccountDraft({ metadata: { a: '\ud800' } }), noLimit),
      ),
      'invalid_request',
    );
  });
}

/** Ids of all rows, page after page; `between` runs once a page with its first row. */
async function everyPage<T extends { readonly id: string }>(
  list: (page: PageQuery) => Promise<Page<T>>,
  limit: number,
  between: (row: T) => Promise<void>,
): Promise<string[]> {
  const ids: string[] = [];
  for (let after: string | undefined; ; after = ids.at(-1)) {
    const page = await list({ limit, ...(after !== undefined && { after }) });
    ids.push(...page.rows.map(({ id }) => id));
    if (!page.hasMore) return ids;
    if (page.rows[0]) await between(page.rows[0]);
  }
}
