/** What every coherence log does. */
import type { Test } from 'tap';
import type { AccountId } from '../../src/domain/ids.ts';
import type { Store } from '../../src/adapters/postgres/store.ts';
import type { ReplicaRow } from '../../src/ports/coherence-log.ts';
import type { Seq } from '../../src/ports/facts.ts';
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

  /** Gives a sub-account another `external_id`. Returns the position. */
  async function rename(parent: AccountId, id: AccountId, externalId: string): Promise<number> {
    const changed = await tenants.updateSubAccount(parent, id, { externalId });
    return (typeof changed === 'object' && changed !== null && 'seq' in changed ? changed.seq : null) ?? NaN;
  }

  await t.test('a replica is what it last said', async (t) => {
    await log.register({ id: 'r', nonce: 'one', leaseMs: 3_000, streamsMs: 0 });
    t.match(await row('r'), { id: 'r', nonce: 'one', acked: 0, leaseMs: 3_000, streamsClosed: 0 });
    await log.ack('r', 7, 2);
    await log.register({ id: 'r', nonce: 'two', leaseMs: 4_000, streamsMs: 0 });
    t.match(await row('r'), { id: 'r', nonce: 'two', acked: 7, leaseMs: 4_000, streamsClosed: 2 });
  });

  await t.test('operators see what a replica reports about itself, and when it last did', async (t) => {
    const entry = async () => (await store.replicaList.read()).entries.find(({ id }) => id === 'told');
    const note = { version: '1.2.3', host: 'pod-1', leaving: false };
    await log.register({ id: 'told', nonce: 'n', leaseMs: 3_000, streamsMs: 0, note });
    await log.ack('told', 4, 0);
    t.match(await entry(), { leaseMs: 3_000, applied: 4, ...note });
    const first = (await entry())?.ageMs ?? NaN;
    t.ok(first >= 0 && first < 60_000, `${first} ms`);
    await eventually(async () => ((await entry())?.ageMs ?? 0) > first + 50);
    await log.register({
      id: 'told',
      nonce: 'm',
      leaseMs: 3_000,
      streamsMs: 0,
      note: { ...note, leaving: true },
    });
    t.match(await entry(), { applied: 4, leaving: true });
    await log.register({ id: 'told', nonce: 'o', leaseMs: 3_000, streamsMs: 0 });
    t.match(await entry(), { version: null, host: null, leaving: false });
    const { seq, incarnation, complete } = await log.replicas();
    t.match(await store.replicaList.read(), { seq, incarnation, complete });
    await log.removeReplica('told', 'o');
  });

  await t.test('a late confirmation undoes nothing', async (t) => {
    await log.register({ id: 'late', nonce: 'n', leaseMs: 3_000, streamsMs: 0 });
    await log.ack('late', 9, 1);
    await log.ack('late', 8, 5);
    t.match(await row('late'), { acked: 9, streamsClosed: 1 });
    await log.ack('unknown', 9, 1);
    t.equal(await row('unknown'), undefined);
  });

  await t.test('a row goes away only with the nonce it was last seen with', async (t) => {
    await log.register({ id: 'gone', nonce: 'old', leaseMs: 3_000, streamsMs: 0 });
    await log.register({ id: 'gone', nonce: 'new', leaseMs: 3_000, streamsMs: 0 });
    await log.removeReplica('gone', 'old');
    t.match(await row('gone'), { nonce: 'new' });
    await log.removeReplica('gone', 'new');
    t.equal(await row('gone'), undefined);
    await log.register({ id: 'gone', nonce: 'seen', leaseMs: 3_000, streamsMs: 0 });
    await log.removeReplica('gone', (await row('gone'))?.nonce ?? '');
    t.equal(await row('gone'), undefined, 'as another replica sees it');
  });

  await t.test('the log is read in order from any position', async (t) => {
    const seqs = [await mutate(), await mutate(), await mutate()];
    const { entries, seq, through } = await log.readAfter((seqs[0] ?? 0) - 1, 100);
    t.same(
      entries.map((entry) => entry.seq),
      seqs,
    );
    t.same([seq, through], [seqs[2], seqs[2]]);
    t.same(
      (await log.readAfter(seqs[1] ?? 0, 100)).entries.map((entry) => entry.seq),
      seqs.slice(2),
    );
    t.same((await log.readAfter(seq, 100)).entries, []);
  });

  await t.test('a page ends with a whole change, and tells where the next one begins', async (t) => {
    const { seq: before } = await log.replicas();
    const parent = (await createParent(tenants)).id;
    const { value, seq: first } = await createSub(tenants, parent);
    const { id } = value;
    const renamed = await rename(parent, id, 'one');
    const last = await mutate();
    const page = await log.readAfter(before, 2);
    t.same([page.seq, page.through], [last, renamed]);
    t.same(
      page.entries.map(({ seq, key }) => [seq, key]).sort(),
      [
        [first, `n:${parent}`],
        [renamed, `a:${id}`],
        [renamed, `x:${parent}:one`],
      ],
      'both facts of the second change, though that is one entry more',
    );
    const next = await log.readAfter(page.through, 2);
    t.same([next.seq, next.through, next.entries.map(({ seq }) => seq)], [last, last, [last]]);
  });

  await t.test('one that knows nothing gets the newest changes, and knows from where on', async (t) => {
    const last = await mutate();
    const all = await log.readAfter(null, 1_000);
    t.same([all.floor, all.seq, all.through], [(await log.readAfter(0, 1)).floor, last, last]);
    const few = await log.readAfter(null, 2);
    t.same([few.floor, few.seq, few.through], [last - 1, last, last]);
    t.same(
      few.entries.map(({ seq }) => seq),
      [last - 1, last],
    );
  });

  await t.test('the log keeps the newest change of a fact, and its newest revocation', async (t) => {
    const parent = (await createParent(tenants)).id;
    const { id } = (await createSub(tenants, parent)).value;
    const { seq: before } = await log.replicas();
    const rows = async (): Promise<unknown> =>
      (await log.readAfter(before, 100)).entries
        .filter(({ key }) => key === `a:${id}`)
        .map(({ seq, revoked }) => [seq, revoked]);
    const change = async (status: 'deactivated' | 'active'): Promise<Seq | null> =>
      (await tenants.setSubAccountStatus(parent, id, status))?.seq ?? null;
    t.equal(await rename(parent, id, 'one'), before + 1);
    t.equal(
      await rename(parent, id, 'one-more'),
      before + 2,
      'though what it replaces was the newest entry of all',
    );
    const renamed = await rename(parent, id, 'two');
    t.same(await rows(), [[renamed, false]]);
    const revoked = await change('deactivated');
    t.same(await rows(), [[revoked, true]]);
    await change('active');
    const again = await rename(parent, id, 'three');
    t.same(
      await rows(),
      [
        [revoked, true],
        [again, false],
      ],
      'a replica that reads on from before must end the streams of the account',
    );
    const last = await change('deactivated');
    t.same(await rows(), [[last, true]]);
  });

  await t.test('pruning goes portion by portion, and says from where on the log is complete', async (t) => {
    const { incarnation, seq: start } = await log.replicas();
    await log.prune({ incarnation, before: start, most: 1_000 });
    const seqs = [await mutate(), await mutate(), await mutate(), await mutate(), await mutate()];
    const rest = async (): Promise<readonly unknown[]> => {
      const { floor, seq, entries } = await log.readAfter(0, 100);
      return [floor - start, seq - start, entries.map((entry) => entry.seq - start)];
    };
    t.same(seqs.map((seq) => seq - start), [1, 2, 3, 4, 5]); // prettier-ignore
    const prune = (before: Seq, of = incarnation) =>
      log.prune({ incarnation: of, before: start + before, most: 2 });
    await prune(1);
    t.same(await rest(), [1, 5, [1, 2, 3, 4, 5]]);
    t.equal(await prune(5, 'another'), false);
    t.same(await rest(), [1, 5, [1, 2, 3, 4, 5]], 'positions of another history mean nothing here');
    t.equal(await prune(4), true);
    t.same(await rest(), [3, 5, [3, 4, 5]]);
    t.equal(await prune(4), false);
    t.same(await rest(), [4, 5, [4, 5]]);
    t.equal(await prune(3), false);
    t.same(await rest(), [4, 5, [4, 5]], 'the floor never sinks');
    await prune(1_000);
    t.same(await rest(), [5, 5, [5]], 'the newest entry stays: it says what the position is');
    t.equal(await mutate(), start + 6);
  });

  await t.test(
    'a restored database is another incarnation, and not complete until that is noted',
    async (t) => {
      const before = await log.replicas();
      t.equal(before.complete, true);
      await store.markRestored();
      const after = await log.replicas();
      t.not(after.incarnation, before.incarnation);
      t.equal((await log.readAfter(0, 1)).incarnation, after.incarnation);
      t.equal(after.complete, false);

      const parent = (await createParent(tenants)).id;
      await createSub(tenants, parent);
      t.equal(
        (await createSub(tenants, parent)).seq,
        (await log.replicas()).seq,
        'leases may exist that no row shows',
      );

      await log.noteComplete(before.incarnation);
      t.equal((await log.replicas()).complete, false, 'that was not this one');
      await log.noteComplete(after.incarnation);
      t.equal((await log.replicas()).complete, true);
    },
  );

  await t.test('a mutation is hinted at', async (t) => {
    await new Promise<void>((resolve) => {
      log.onHint(resolve);
      void mutate();
    });
    t.pass('heard of it');
  });
}
