/** What every tenant store does with parents. */
import { randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import type { AccountId } from '../../src/domain/ids.ts';
import type { Store } from '../../src/adapters/postgres/store.ts';
import { newAccountId, subAccountDraft } from '../support/drafts.ts';
import { createParent, createSub } from '../support/store.ts';

const noLimit = 1_000_000;

export async function parentContract(t: Test, { tenants }: Store): Promise<void> {
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
    t.same(await tenants.createSubAccount(other.id, { ...subAccountDraft({ id }) }, noLimit), {
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
}
