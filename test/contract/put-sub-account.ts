/** What a store does where a sub-account is put by its `external_id`. */
import type { Test } from 'tap';
import { factKey } from '../../src/ports/facts.ts';
import type { Store } from '../../src/adapters/postgres/store.ts';
import type { AccountId } from '../../src/domain/ids.ts';
import type { SubAccountToPut } from '../../src/ports/tenant-store.ts';
import { newAccountId } from '../support/drafts.ts';
import { loggedBy } from '../support/logged.ts';
import { createParent } from '../support/store.ts';

export async function putSubAccountContract(t: Test, { tenants, log }: Store): Promise<void> {
  const noLimit = 1_000_000;

  function put(parent: AccountId, externalId: string, more: Partial<SubAccountToPut> = {}, limit = noLimit) {
    return tenants.putSubAccount(
      parent,
      externalId,
      { id: newAccountId(), name: 'Name', metadata: {}, ...more },
      limit,
    );
  }

  await t.test('it is created, then changed, and left alone where all is so already', async (t) => {
    const parent = (await createParent(tenants)).id;
    const id = newAccountId();
    const first = await put(parent, 'ada/1', { id, metadata: { a: '1', b: '2', none: null } });
    const value = { id, parentId: parent, name: 'Name', externalId: 'ada/1', metadata: { a: '1', b: '2' } };
    t.match(first, { created: true, value });
    t.same(await tenants.getSubAccount(parent, id), (first as { value: unknown }).value);
    t.match(await put(parent, 'ada/1', { name: 'New', metadata: { b: null, c: '3' } }), {
      created: false,
      value: { id, name: 'New', metadata: { a: '1', b: undefined, c: '3' } },
    });
    const before = await tenants.getSubAccount(parent, id);
    for (const metadata of [{}, { a: '1' }, { none: null }]) {
      const again = await put(parent, 'ada/1', { name: 'New', metadata });
      t.match(again, { created: false, value: { updatedAt: before?.updatedAt } }, JSON.stringify(metadata));
    }
    t.same(await tenants.getSubAccount(parent, id), before, 'not even the time of the last change');
    t.equal((await tenants.getParent(parent))?.activeSubAccounts, 1);
  });

  await t.test('limits hold, and what they reject is not made', async (t) => {
    const parent = (await createParent(tenants)).id;
    const pairs = (n: number, from = 0) =>
      Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${from + i}`, 'v']));
    t.equal(await put(parent, 'full', { metadata: pairs(17) }), 'too-many-pairs');
    t.match(await put(parent, 'full', { metadata: { ...pairs(16), gone: null } }), { created: true });
    t.equal(await put(parent, 'full', { metadata: pairs(1, 16) }), 'too-many-pairs');
    t.match(await put(parent, 'full', { metadata: { k0: null, k16: 'v' } }), { created: false });
    t.same(await put(parent, 'more', {}, 1), { limit: 1 });
    t.match(await put(parent, 'full', { name: 'At the limit' }, 1), { value: { name: 'At the limit' } });
    t.equal(await put(newAccountId(), 'x'), null, 'no such parent');
    const sub = (await tenants.listSubAccounts(parent, {}, { limit: 10 })).rows;
    t.equal(sub.length, 1);
    t.equal(await put(sub[0]?.id as AccountId, 'x'), null, 'a sub-account has none');
  });

  await t.test('of many at once one creates it, and the others find it', async (t) => {
    const parent = (await createParent(tenants)).id;
    const results = await Promise.all(Array.from({ length: 16 }, () => put(parent, 'contended')));
    const made = results.filter(
      (result) => typeof result === 'object' && result !== null && 'created' in result,
    );
    t.equal(made.length, 16);
    t.equal(made.filter(({ created }) => created).length, 1);
    t.equal(new Set(made.map(({ value }) => value.id)).size, 1);
    t.equal((await tenants.getParent(parent))?.activeSubAccounts, 1);
  });

  await t.test('the first one is waited for, also by those that find it made already', async (t) => {
    const parent = (await createParent(tenants)).id;
    await log.register({ id: 'slow', nonce: 'n', leaseMs: 1_000, streamsMs: 0 });
    const { made: first, entries } = await loggedBy(log, () => put(parent, 'first'));
    t.match(entries, [{ key: factKey.activeSubAccounts(parent), revoked: false }]);
    const seq = entries[0]?.seq;
    t.match(first, { created: true, seq });
    t.match(await put(parent, 'first'), { created: false, seq }, 'its 2xx may never have been sent');
    t.match(await put(parent, 'first', { name: 'New' }), { created: false, seq });
    await log.ack('slow', seq ?? 0, 0);
    t.match(await put(parent, 'first', { name: 'Newer' }), { created: false, seq: null });
    t.match(await put(parent, 'second'), { created: true, seq: null });
    t.equal((await log.replicas()).seq, seq, 'no more was logged');
    await log.removeReplica('slow', 'n');
  });
}
