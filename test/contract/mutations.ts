/** What a mutation leaves in the log, and which position its 2xx has to wait for. */
import type { Test } from 'tap';
import { factKey, type Seq } from '../../src/ports/facts.ts';
import type { Store } from '../../src/adapters/postgres/store.ts';
import type { AccountId } from '../../src/domain/ids.ts';
import { newAccountId } from '../support/drafts.ts';
import { loggedBy } from '../support/logged.ts';
import { createKey, createParent, createSub } from '../support/store.ts';

/** What a mutation logged: its keys, those of revoked facts marked `revoked`. */
type Logged = Readonly<Record<string, 'changed' | 'revoked'>>;

/** Stands for the parent that parents have not, in the names of their external_ids. */
const noParent = '00000000-0000-0000-0000-000000000000' as AccountId;

export async function mutationContract(t: Test, store: Store): Promise<void> {
  const { tenants, log } = store;

  /** Runs a mutation alone; returns the position it wants waited for, what it logged and where the log stood before. */
  async function observe(
    mutate: () => Promise<unknown>,
  ): Promise<{ seq: Seq | null | undefined; logged: Logged; before: Seq }> {
    const { made, before, entries } = await loggedBy(log, mutate);
    const logged = Object.fromEntries(
      entries.map(({ key, revoked }) => [key, revoked ? 'revoked' : 'changed'] as const),
    );
    const seq = seqOf(made);
    if (entries.length > 0)
      t.same([...new Set(entries.map((entry) => entry.seq))], [seq], 'one position, its own');
    return { seq, logged, before };
  }

  await t.test('a mutation logs exactly the facts it changed', async (t) => {
    const parent = (await createParent(tenants)).id;
    const [sub, other] = [newAccountId(), newAccountId()];
    const { account, externalId } = factKey;
    const [s, o, p, n] = [account(sub), account(other), account(parent), factKey.activeSubAccounts(parent)];
    const x = (name: string, of = parent) => externalId(of, name);
    const update = (id: AccountId, change: Parameters<typeof tenants.updateSubAccount>[2]) => () =>
      tenants.updateSubAccount(parent, id, change);
    const set = (id: AccountId, status: 'active' | 'deactivated') => () =>
      tenants.setSubAccountStatus(parent, id, status);
    const ofParent = (change: Parameters<typeof tenants.updateParent>[1]) => () =>
      tenants.updateParent(parent, change);
    const { made: minted, keys } = await loggedBy(log, () => createKey(tenants, parent));
    t.same(keys, [], 'a new key changes no decision');
    const revoke = () => tenants.revokeKey(parent, minted.key.id);
    const steps: readonly [string, () => Promise<unknown>, changed: string[], revoked?: string[]][] = [
      ['the end of a key', revoke, [], [factKey.key(minted.digest)]],
      ['the first active one', () => createSub(tenants, parent, { id: sub, externalId: 'old' }), [n]],
      ['one more', () => createSub(tenants, parent, { id: other }), []],
      ['a new name and metadata', update(sub, { name: 'N', metadata: { a: 'b' } }), []],
      ['another external_id', update(sub, { externalId: 'new', name: 'M' }), [s, x('old'), x('new')]],
      ['no external_id any more', update(sub, { externalId: null }), [s, x('new')]],
      ['its first external_id', update(other, { externalId: 'other' }), [o, x('other')]],
      ['deactivated, not the last', set(other, 'deactivated'), [], [o]],
      ['deactivated, the last', set(sub, 'deactivated'), [n], [s]],
      ['reactivated, the first', set(sub, 'active'), [s, n]],
      ['reactivated, not the first', set(other, 'active'), [o]],
      ['suspended', () => tenants.setParentStatus(parent, 'suspended'), [], [p]],
      ['resumed', () => tenants.setParentStatus(parent, 'active'), [p]],
      ['a new name of the parent', ofParent({ name: 'N', metadata: { a: 'b' } }), []],
      ['its first external_id', ofParent({ externalId: 'acme' }), [p, x('acme', noParent)]],
      [
        'another external_id of the parent',
        ofParent({ externalId: 'acme-2', name: 'M' }),
        [p, x('acme', noParent), x('acme-2', noParent)],
      ],
    ];
    for (const [name, mutate, changed, revoked = []] of steps) {
      const expected = Object.fromEntries([
        ...changed.map((key) => [key, 'changed']),
        ...revoked.map((key) => [key, 'revoked']),
      ]) as Logged;
      const { logged, seq } = await observe(mutate);
      t.same(logged, expected, name);
      t.equal(seq === null, Object.keys(expected).length === 0, `${name}: waits if it logged`);
    }
  });

  await t.test('a mutation without effect waits for whatever made it one', async (t) => {
    const parent = (await createParent(tenants)).id;
    const { value: sub } = await createSub(tenants, parent, { externalId: 'same' });
    const { key } = await createKey(tenants, sub.id);
    await tenants.revokeKey(sub.id, key.id);
    const repeats: (() => Promise<unknown>)[] = [
      () => tenants.revokeKey(sub.id, key.id),
      () => tenants.setSubAccountStatus(parent, sub.id, 'active'),
      () => tenants.setParentStatus(parent, 'active'),
      () => tenants.updateSubAccount(parent, sub.id, { externalId: 'same', name: 'other' }),
      () => tenants.updateParent(parent, { externalId: null, name: 'other' }),
    ];
    for (const repeat of repeats) {
      const { seq, logged, before } = await observe(repeat);
      t.same([seq, logged], [before, {}]);
    }
  });

  await t.test('a parent that takes over an external_id waits until every replica has it', async (t) => {
    const gaveUp = await createParent(tenants, { externalId: 'handed-on' });
    await log.register({ id: 'behind', nonce: 'n', leaseMs: 1_000, streamsMs: 0 });
    const seq = seqOf(await tenants.updateParent(gaveUp.id, { externalId: null }));
    const draft = { name: 'N', externalId: 'handed-on' };
    const took = { ...draft, id: newAccountId() };
    t.equal(seqOf(await tenants.createParent({ id: newAccountId(), name: 'N', externalId: 'fresh' })), null);
    t.equal(seqOf(await tenants.createParent(took)), seq);
    await tenants.updateParent(took.id, { externalId: null });
    await log.ack('behind', (await log.replicas()).seq, 0);
    t.equal(seqOf(await tenants.createParent({ ...draft, id: newAccountId() })), null);
    await log.removeReplica('behind', 'n');
  });

  await t.test('what was rejected has logged nothing', async (t) => {
    const parent = (await createParent(tenants)).id;
    await createSub(tenants, parent, { externalId: 'taken' });
    const { value: sub } = await createSub(tenants, parent);
    const many = Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${i}`, 'v']));
    for (const rejected of [
      () => tenants.updateSubAccount(parent, sub.id, { externalId: 'taken' }),
      () => tenants.updateSubAccount(parent, sub.id, { externalId: 'free', metadata: many }),
      () => tenants.setSubAccountStatus(newAccountId(), sub.id, 'deactivated'),
    ]) {
      t.same((await observe(rejected)).logged, {});
    }
    t.equal((await tenants.getSubAccount(parent, sub.id))?.externalId, null);
  });

  await t.test('a create waits for an earlier change it relies on, until every replica has it', async (t) => {
    const parent = (await createParent(tenants)).id;
    await log.register({ id: 'slow', nonce: 'n', leaseMs: 1_000, streamsMs: 0 });
    const { seq: first } = await createSub(tenants, parent, { externalId: 'moving' });
    t.equal((await createSub(tenants, parent)).seq, first, 'the first active one is still on its way');
    await log.ack('slow', first ?? 0, 0);
    t.equal((await createSub(tenants, parent)).seq, null);

    const [sub] = (await tenants.listSubAccounts(parent, { externalId: 'moving' }, { limit: 1 })).rows;
    const gaveUp = await tenants.updateSubAccount(parent, sub?.id as AccountId, { externalId: null });
    t.equal((await createSub(tenants, parent, { externalId: 'unrelated' })).seq, null);
    t.equal(
      (await createSub(tenants, parent, { externalId: 'moving' })).seq,
      seqOf(gaveUp),
      'it may still be the old one',
    );
    await log.removeReplica('slow', 'n');
  });

  await t.test('the edge of the active count is logged once however many cross it at once', async (t) => {
    const parent = (await createParent(tenants)).id;
    const subs = await Promise.all(Array.from({ length: 8 }, () => createSub(tenants, parent)));
    const { seq: before } = await log.replicas();
    await Promise.all(subs.map(({ value }) => tenants.setSubAccountStatus(parent, value.id, 'deactivated')));
    const edges = (await log.readAfter(before, 100)).entries.filter(
      ({ key }) => key === factKey.activeSubAccounts(parent),
    );
    t.equal(edges.length, 1);
    t.equal(edges[0]?.seq, (await log.replicas()).seq, 'by the last of them');
  });
}

/** The position a mutation's result wants waited for; `undefined` where it was rejected. */
function seqOf(result: unknown): Seq | null | undefined {
  if (typeof result !== 'object' || result === null || !('seq' in result)) return undefined;
  return result.seq as Seq | null;
}
