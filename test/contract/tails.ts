/** What a store does with live tails. */
import { randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import type { Store } from '../../src/adapters/postgres/store.ts';
import { quietFigures } from './replica-figures.ts';

const nothing = { requests: 0, streams: 0 };

const numbered = (count: number): string[] => Array.from({ length: count }, (_, i) => `{"n":${i}}`);

export async function tailContract(t: Test, store: Store): Promise<void> {
  const { tails, figures } = store;
  const report = (replica: string) => figures.report(replica, quietFigures, false);

  await t.test('a report names the open tails with their filters, and no others', async (t) => {
    t.same(await report('a'), []);
    const tail = { id: randomUUID(), filter: { accountId: randomUUID(), code: 'rate_limited' } };
    t.equal(await tails.open(tail, 8), true);
    t.same(await report('a'), [tail]);
    await tails.close(tail.id);
    t.same(await report('a'), []);
    t.equal(await tails.read(tail.id, 0), null);
  });

  await t.test('lines of several replicas are read once, with the replicas that report', async (t) => {
    const tail = randomUUID();
    await tails.open({ id: tail, filter: {} }, 8);
    for (const replica of ['a', 'b']) await report(replica);
    t.equal(await tails.add({ tail, replica: 'a', lines: ['{"n":1}'], dropped: 0, open: nothing }), 1);
    t.equal(await tails.add({ tail, replica: 'b', lines: ['{"n":"é\\"✓"}'], dropped: 7, open: nothing }), 1);
    t.equal(await tails.add({ tail, replica: 'silent', lines: [], dropped: 0, open: nothing }), 0);
    const reading = await tails.read(tail, 0);
    t.same(new Set(reading?.lines), new Set(['{"n":1}', '{"n":"é\\"✓"}']));
    t.same(
      new Map(reading?.replicas.map(({ id, dropped }) => [id, dropped])),
      new Map([
        ['a', 0],
        ['b', 7],
      ]),
    );
    t.same((await tails.read(tail, 2))?.lines, []);
    await tails.close(tail);
    t.equal(
      await tails.add({ tail, replica: 'a', lines: ['{}'], dropped: 0, open: nothing }),
      null,
      'it is no longer open',
    );
  });

  await t.test('a tail holds at most 1,000 lines, and has room again once they are read', async (t) => {
    const tail = randomUUID();
    await tails.open({ id: tail, filter: {} }, 8);
    await report('a');
    const added = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        tails.add({ tail, replica: `r${i}`, lines: numbered(100), dropped: 0, open: nothing }),
      ),
    );
    t.equal(
      added.reduce((sum: number, each) => sum + (each ?? 0), 0),
      1_000,
    );
    t.equal(await tails.add({ tail, replica: 'a', lines: numbered(3), dropped: 4, open: nothing }), 0);
    const reading = await tails.read(tail, 0);
    t.equal(reading?.lines.length, 1_000);
    t.match(reading?.replicas, [{ id: 'a', dropped: 7 }], 'those that were not taken count as dropped');
    await tails.read(tail, 1_000);
    t.equal(await tails.add({ tail, replica: 'a', lines: numbered(3), dropped: 7, open: nothing }), 3);
    await tails.close(tail);
  });

  await t.test('no more tails are open than there may be, however many are opened at once', async (t) => {
    const ids = Array.from({ length: 6 }, () => randomUUID());
    const opened = await Promise.all(ids.map((id) => tails.open({ id, filter: {} }, 3)));
    const open = ids.filter((_, i) => opened[i]);
    t.ok(open.length >= 1 && open.length <= 3, `${open.length} of 3`);
    for (const id of ids) if (open.length < 3 && !open.includes(id)) await tails.open({ id, filter: {} }, 3);
    t.equal((await report('a')).length, 3);
    t.equal(await tails.open({ id: randomUUID(), filter: {} }, 3), false);
    await tails.close(open[0] as string);
    t.equal(await tails.open({ id: randomUUID(), filter: {} }, 3), true);
    for (const { id } of await report('a')) await tails.close(id);
    for (const replica of ['a', 'b']) await figures.remove(replica);
  });
}
