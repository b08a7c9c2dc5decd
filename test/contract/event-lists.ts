/** How events are listed, and how old ones go. */
import type { Test } from 'tap';
import type { Store } from '../../src/adapters/postgres/store.ts';
import type { Event } from '../../src/domain/event.ts';
import type { EventId } from '../../src/domain/ids.ts';
import { newAccountId } from '../support/drafts.ts';
import { createParent, createSub, everyPage } from '../support/store.ts';

const most = { limit: 100 };

export async function eventListContract(t: Test, { tenants, events }: Store): Promise<void> {
  await t.test('lists go from the newest back, page by page, and filters hold', async (t) => {
    const { id } = await createParent(tenants);
    const other = await createParent(tenants);
    const subs = [];
    for (let i = 0; i < 5; i += 1) subs.push((await createSub(tenants, id)).value.id);
    await createSub(tenants, other.id);
    const [first] = subs;
    if (first === undefined) throw new Error('no sub-account');
    await tenants.setSubAccountStatus(id, first, 'deactivated');
    const all = (await events.list({ account: id }, most, id)).rows;
    t.equal(all.length, 7);
    t.same(
      all.map((event) => event.id),
      all
        .map((event) => event.id)
        .sort()
        .toReversed(),
    );
    t.ok(all.every((event) => event.accountId === id));

    const paged = await everyPage(
      (page) => events.list({ account: id }, page),
      3,
      (event) => event.id,
    );
    t.same(paged, all);

    const types = async (filter: Parameters<typeof events.list>[0]) =>
      (await events.list(filter, most)).rows.map(({ type }) => type);
    t.same(await types({ subAccount: first }), ['sub_account.deactivated', 'sub_account.created']);
    t.same(await types({ account: other.id, subAccount: first }), []);
    t.same(await types({ account: id, type: 'account.created' }), ['account.created']);
    const times = all.map(({ createdAt }) => createdAt.getTime());
    for (const ms of times) {
      t.equal((await types({ account: id, fromMs: ms })).length, times.filter((at) => at >= ms).length);
      t.equal((await types({ account: id, toMs: ms })).length, times.filter((at) => at < ms).length);
      t.equal(
        (await types({ account: id, fromMs: ms, toMs: ms + 1 })).length,
        times.filter((at) => at === ms).length,
      );
    }
    t.match((await events.list({}, { limit: 1 })).rows, [{ id: all[0]?.id }], 'of all parents');
    t.same(await types({ toMs: 0 }), []);

    const [newest] = all as [Event];
    t.same(await events.get(newest.id), newest);
    t.same(await events.get(newest.id, id), newest);
    t.equal(await events.get(newest.id, other.id), null);
    t.equal(await events.get(newAccountId() as string as EventId), null);
  });

  await t.test(
    'retention deletes the oldest, in portions, and what is old by both clocks alone',
    async (t) => {
      const all = async () => (await events.list({}, most)).rows.length;
      const { id } = await createParent(tenants);
      const nowMs = Date.now() + 60_000;
      const prune = async (at: number, days: number, atOnce: number): Promise<number> =>
        (await events.prune({ nowMs: at, days, most: atOnce })).deleted;
      t.equal(await prune(nowMs + 1e12, 1, 1_000), 0, 'the clock of this process');
      t.equal(await prune(0, 0, 1_000), 0, 'that of the store');
      t.equal(await prune(nowMs, 0, 1), 1);
      t.equal((await events.list({ account: id }, most)).rows.length, 1, 'not the newest');
      while ((await prune(nowMs, 0, 10)) === 10);
      t.equal(await all(), 0);
      await tenants.setParentStatus(id, 'suspended');
      t.equal(await all(), 1);
    },
  );
}
