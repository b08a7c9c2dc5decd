/** What every coherence log does. */
import type { Test } from 'tap';
import type { Store } from '../../src/adapters/postgres/store.ts';
import type { ReplicaRow } from '../../src/ports/coherence-log.ts';
import { eventually } from '../support/eventually.ts';
import { createParent, createSub } from '../support/store.ts';

export async function coherenceLogContract(t: Test, store: Store): Promise<void> {
  const { tenants, log } = store;

  async function row(id: string): Promise<ReplicaRow | undefined> {
    return (await log.replicas()).rows.find((each) => each.id === id);
  }

  /** A mutation that logs something. Returns its position. */
  async function mutate(): Promise<number> {
    const { id } = await createParent(tenants);
    return (await createSub(tenants, id)).seq ?? NaN;
  }

  await t.test('a replica is what it last said', async (t) => {
    await log.register({ id: 'r', nonce: 'one', leaseMs: 3_000 });
    t.match(await row('r'), { id: 'r', nonce: 'one', acked: 0, leaseMs: 3_000, streamsClosed: 0 });
    await log.ack('r', 7, 2);
    await log.register({ id: 'r', nonce: 'two', leaseMs: 4_000 });
    t.match(await row('r'), { id: 'r', nonce: 'two', acked: 7, leaseMs: 4_000, streamsClosed: 2 });
  });

  await t.test('operators see what a replica reports about itself, and when it last did', async (t) => {
    const entry = async () => (await store.replicaList.read()).entries.find(({ id }) => id === 'told');
    const note = { version: '1.2.3', host: 'pod-1', leaving: false };
    await log.register({ id: 'told', nonce: 'n', leaseMs: 3_000, note });
    await log.ack('told', 4, 0);
    t.match(await entry(), { leaseMs: 3_000, applied: 4, ...note });
    const first = (await entry())?.ageMs ?? NaN;
    t.ok(first >= 0 && first < 60_000, `${first} ms`);
    await eventually(async () => ((await entry())?.ageMs ?? 0) > first + 50);
    await log.register({ id: 'told', nonce: 'm', leaseMs: 3_000, note: { ...note, leaving: true } });
    t.match(await entry(), { applied: 4, leaving: true });
    await log.register({ id: 'told', nonce: 'o', leaseMs: 3_000 });
    t.match(await entry(), { version: null, host: null, leaving: false });
    const { seq, incarnation, adopted } = await log.replicas();
    t.match(await store.replicaList.read(), { seq, incarnation, complete: adopted });
    await log.removeReplica('told', 'o');
  });

  await t.test('a late confirmation undoes nothing', async (t) => {
    await log.register({ id: 'late', nonce: 'n', leaseMs: 3_000 });
    await log.ack('late', 9, 1);
    await log.ack('late', 8, 5);
    t.match(await row('late'), { acked: 9, streamsClosed: 1 });
    await log.ack('unknown', 9, 1);
    t.equal(await row('unknown'), undefined);
  });

  await t.test('a row goes away only with the nonce it was last seen with', async (t) => {
    await log.register({ id: 'gone', nonce: 'old', leaseMs: 3_000 });
    await log.register({ id: 'gone', nonce: 'new', leaseMs: 3_000 });
    await log.removeReplica('gone', 'old');
    t.match(await row('gone'), { nonce: 'new' });
    await log.removeReplica('gone', 'new');
    t.equal(await row('gone'), undefined);
  });

  await t.test('the log is read in order from any position', async (t) => {
    const seqs = [await mutate(), await mutate(), await mutate()];
    const { entries, seq } = await log.readAfter((seqs[0] ?? 0) - 1);
    t.same(
      entries.map((entry) => entry.seq),
      seqs,
    );
    t.equal(seq, seqs[2]);
    t.same(
      (await log.readAfter(seqs[1] ?? 0)).entries.map((entry) => entry.seq),
      seqs.slice(2),
    );
    t.same((await log.readAfter(seq)).entries, []);
  });

  await t.test('pruning keeps what is young, and says from where on the log is complete', async (t) => {
    const seq = await mutate();
    const { floor } = await log.readAfter(seq);
    await log.prune({ ageMs: 60_000 });
    t.equal((await log.readAfter(0)).floor, floor, 'nothing was old enough');
    await log.prune({ ageMs: -60_000 });
    const all = await log.readAfter(0);
    t.same([all.floor, all.seq, all.entries], [seq + 1, seq, []]);
    const next = await mutate();
    t.same(await log.readAfter(seq).then(({ floor, entries }) => [floor, entries.length]), [seq + 1, 1]);
    t.equal(next, seq + 1);
  });

  await t.test('a restored database is another incarnation until it is adopted', async (t) => {
    const before = await log.replicas();
    t.equal(before.adopted, true);
    await store.markRestored();
    const after = await log.replicas();
    t.not(after.incarnation, before.incarnation);
    t.equal((await log.readAfter(0)).incarnation, after.incarnation);
    t.equal(after.adopted, false);

    const parent = (await createParent(tenants)).id;
    await createSub(tenants, parent);
    t.equal(
      (await createSub(tenants, parent)).seq,
      (await log.replicas()).seq,
      'leases may exist that no row shows',
    );

    await log.adopt(before.incarnation);
    t.equal((await log.replicas()).adopted, false, 'that was not this one');
    await log.adopt(after.incarnation);
    t.equal((await log.replicas()).adopted, true);
  });

  await t.test('a mutation is hinted at', async (t) => {
    await new Promise<void>((resolve) => {
      log.onHint(resolve);
      void mutate();
    });
    t.pass('heard of it');
  });
}
