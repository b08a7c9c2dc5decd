/** How every tenant store lists: in pages, newest first, by filters. */
import type { Test } from 'tap';
import type { Metadata } from '../../src/domain/account.ts';
import type { AccountId } from '../../src/domain/ids.ts';
import type { PageQuery } from '../../src/ports/tenant-store.ts';
import type { Store } from '../../src/adapters/postgres/store.ts';
import { bucketQuestion } from './buckets.ts';
import { createKey, createParent, createSub, everyPage } from '../support/store.ts';

export async function accountListContract(t: Test, { tenants, quotas }: Store): Promise<void> {
  await t.test('pages neither repeat nor skip a row while others come and change', async (t) => {
    const parent = await createParent(tenants);
    const before: string[] = [];
    for (let i = 0; i < 25; i++) before.push((await createSub(tenants, parent.id)).value.id);
    const list = async (page: PageQuery) => {
      const found = await tenants.listSubAccounts(parent.id, {}, page);
      await createSub(tenants, parent.id);
      await tenants.setSubAccountStatus(parent.id, found.rows[0]?.id as AccountId, 'deactivated');
      return found;
    };
    const seen = await everyPage(list, 10, ({ id }) => id);
    t.same(
      seen.map(({ id }) => id),
      before.sort().reverse(),
    );
  });

  await t.test('a last page that is full says that it is the last', async (t) => {
    const { id } = await createParent(tenants);
    for (let i = 0; i < 4; i++) await createKey(tenants, id);
    const first = await tenants.listKeys(id, { limit: 2 });
    const second = await tenants.listKeys(id, { limit: 2, after: first.rows[1]?.id ?? '' });
    t.same([first.hasMore, second.hasMore, second.rows.length], [true, false, 2]);
  });

  await t.test('the parent of a sub-account is found by it', async (t) => {
    const parent = await createParent(tenants);
    const { value: sub } = await createSub(tenants, parent.id);
    const ids = async (filter: Parameters<typeof tenants.listParents>[0]): Promise<string[]> =>
      (await tenants.listParents(filter, { limit: 10 })).rows.map(({ id }) => id);
    t.same(await ids({ subAccount: sub.id }), [parent.id]);
    t.same(await ids({ subAccount: sub.id, status: 'suspended' }), []);
    t.same(await ids({ subAccount: parent.id }), [], 'a parent has none itself');
  });

  await t.test('accounts near the end of their quota are listed, and the parents of such', async (t) => {
    const [parent, other] = [await createParent(tenants), await createParent(tenants)];
    const { value: sub } = await createSub(tenants, parent.id);
    await createSub(tenants, parent.id);
    const limits = { requestsPerSecond: null, burst: null, requestsPerMonth: 100 };
    await tenants.updateSubAccount(parent.id, sub.id, { limits });
    await tenants.updateParent(other.id, { limits });
    await quotas(`near-${parent.id}`).ask([
      { ...bucketQuestion(`sub_account:${sub.id}:month`, 100, 0), period: 'month', needed: 90 },
      { ...bucketQuestion(`parent:${other.id}:month`, 100, 0), period: 'month', needed: 89 },
    ]);
    const ids = async (near: number): Promise<string[]> =>
      (await tenants.listParents({ near }, { limit: 10 })).rows.map(({ id }) => id);
    t.same(await ids(0.9), [parent.id]);
    t.same(await ids(0.85), [parent.id, other.id].sort().reverse());
    const subs = await tenants.listSubAccounts(parent.id, { near: 0.9 }, { limit: 10 });
    t.same(
      subs.rows.map(({ id }) => id),
      [sub.id],
    );
    await tenants.updateSubAccount(parent.id, sub.id, { limits: { ...limits, requestsPerMonth: null } });
    t.same(await ids(0.9), [], 'without a quota there is no end of it');
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
}
