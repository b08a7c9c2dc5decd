/** What a store does with the limits of parents, sub-accounts and keys. */
import type { Test } from 'tap';
import type { Store } from '../../src/adapters/postgres/store.ts';
import { noLimits } from '../../src/domain/limits/limits.ts';
import type { KeyId } from '../../src/domain/ids.ts';
import { factKey } from '../../src/ports/facts.ts';
import { keyDraft, newAccountId, planTerms } from '../support/drafts.ts';
import { factOf, loggedBy } from '../support/logged.ts';
import { createKey, createParent, createSub, problemCode } from '../support/store.ts';

export async function limitContract(t: Test, { tenants, facts, log, events }: Store): Promise<void> {
  const five = { ...noLimits, requestsPerSecond: 5 };

  const logged = (change: () => Promise<unknown>) => loggedBy(log, change);

  await t.test('an account has those that it is given, merged, and decisions know them', async (t) => {
    const parent = (await createParent(tenants)).id;
    const { value: sub } = await createSub(tenants, parent, { limits: { requestsPerSecond: 5 } });
    t.same(sub.limits, five);
    t.match(await factOf(facts, factKey.account(sub.id)), { limits: five });
    t.match(await factOf(facts, factKey.account(parent)), { limits: null });
    const update = (change: Parameters<typeof tenants.updateSubAccount>[2]) =>
      tenants.updateSubAccount(parent, sub.id, change);
    const more = { burst: 9, requestsPerMonth: 1_000_000_000_000 };
    t.match(await update({ limits: more }), { value: { limits: { requestsPerSecond: 5, ...more } } });
    t.match(await update({ name: 'New' }), { value: { limits: { burst: 9 } } });
    const fewer = await update({ limits: { burst: null, requestsPerMonth: null } });
    t.match(fewer, { value: { limits: five } });
    t.match(await tenants.updateParent(parent, { limits: { requestsPerMonth: 7 } }), {
      value: { limits: { ...noLimits, requestsPerMonth: 7 } },
    });
    t.match((await tenants.getSubAccount(parent, sub.id))?.limits, five);
    t.match((await tenants.getParent(parent))?.limits, { requestsPerMonth: 7 });
    await update({ limits: { requestsPerSecond: null } });
    t.match(await factOf(facts, factKey.account(sub.id)), { limits: null });
  });

  await t.test(
    'a change of them is logged for that account and waited for; what changes nothing is not logged',
    async (t) => {
      const parent = (await createParent(tenants)).id;
      const sub = (await createSub(tenants, parent)).value.id;
      const change = () => tenants.updateSubAccount(parent, sub, { limits: { requestsPerSecond: 5 } });
      const first = await logged(change);
      t.same(first.keys, [factKey.account(sub)]);
      t.match(first.made, { seq: first.before + 1 });
      const again = await logged(change);
      t.same(again.keys, []);
      t.match(again.made, { seq: again.before }, 'its 2xx means the same');
      const ofParent = await logged(() =>
        tenants.updateParent(parent, { limits: { requestsPerSecond: 5 }, name: 'N' }),
      );
      t.same(ofParent.keys, [factKey.account(parent)]);
      t.match(ofParent.made, { seq: ofParent.before + 1 });
      t.match(await tenants.updateParent(parent, { name: 'M' }), { seq: null });
      const both = await logged(() =>
        tenants.updateSubAccount(parent, sub, { externalId: 'x', limits: { requestsPerSecond: null } }),
      );
      t.same(both.keys, [factKey.account(sub), factKey.externalId(parent, 'x')]);
    },
  );

  await t.test('put: they are merged, and where all is so already nothing is written', async (t) => {
    const parent = (await createParent(tenants)).id;
    const put = (limits: object, name = 'Put') =>
      tenants.putSubAccount(parent, 'put', { id: newAccountId(), name, metadata: {}, limits }, 10);
    t.match(await put({ requestsPerSecond: 5 }), { created: true, value: { limits: five } });
    const same = await logged(() => put({ requestsPerSecond: 5 }));
    t.same(same.keys, []);
    t.match(same.made, { created: false, value: { limits: five } });
    t.match(await put({}), { value: { limits: five } });
    const changed = await logged(() => put({ burst: 6 }));
    t.match(changed.made, {
      created: false,
      seq: changed.before + 1,
      value: { limits: { ...five, burst: 6 } },
    });
    t.same(changed.keys.length, 1);
    t.match(await put({ requestsPerSecond: null, burst: null }, 'Other'), {
      value: { name: 'Other', limits: noLimits },
    });
  });

  await t.test('a key has its own, and one in its place has the same and shares them', async (t) => {
    const parent = (await createParent(tenants)).id;
    const { key, digest } = await createKey(tenants, parent, { limits: { requestsPerSecond: 5 } });
    t.same(key.limits, five);
    t.match(await factOf(facts, factKey.key(digest)), { limits: five, limitId: key.id });
    const change = await logged(() => tenants.updateKey(parent, key.id, { limits: { burst: 9 } }));
    t.same(change.keys, [factKey.key(digest)]);
    t.match(change.made, { seq: change.before + 1, value: { limits: { ...five, burst: 9 } } });
    const again = await logged(() => tenants.updateKey(parent, key.id, { limits: { burst: 9 } }));
    t.match(again, { keys: [], made: { seq: again.before } });
    const rotate = async (id: KeyId) => {
      const draft = keyDraft();
      const made = await tenants.rotateKey(parent, id, { ...draft, overlapS: 60 });
      t.match(made, { value: { limits: { ...five, burst: 9 } } });
      t.match(await factOf(facts, factKey.key(draft.digest)), { limitId: key.id, limits: { burst: 9 } });
      return draft.id;
    };
    const second = await rotate(key.id);
    await tenants.revokeKey(parent, key.id);
    await rotate(second);
    t.match(await tenants.updateKey(parent, key.id, { limits: { requestsPerSecond: null, burst: null } }), {
      value: { limits: noLimits },
    });
  });

  await t.test('a burst without a rate is rejected, whatever it would come from', async (t) => {
    const parent = (await createParent(tenants)).id;
    const sub = (await createSub(tenants, parent, { externalId: 'there' })).value.id;
    const { key } = await createKey(tenants, sub);
    await tenants.putPlan('with-rate', planTerms({ requestsPerSecond: 5 }));
    const planned = (await createParent(tenants, { plan: 'with-rate' })).id;
    const limits = { burst: 5 };
    const put = (externalId: string) =>
      tenants.putSubAccount(parent, externalId, { id: newAccountId(), name: 'N', metadata: {}, limits }, 10);
    for (const [name, change] of Object.entries<() => Promise<unknown>>({
      create: () => createSub(tenants, parent, { limits }),
      change: () => tenants.updateSubAccount(parent, sub, { limits }),
      'change of a parent': () => tenants.updateParent(parent, { limits }),
      'change of one whose plan has a rate': () => tenants.updateParent(planned, { limits }),
      'put a plan': () => tenants.putPlan('without-rate', planTerms(limits)),
      'put what is there': () => put('there'),
      put: () => put('new'),
      mint: () => createKey(tenants, sub, { limits }),
      'change of a key': () => tenants.updateKey(sub, key.id, { limits }),
    }))
      t.equal(await problemCode(change()), 'invalid_request', name);
    await tenants.updateSubAccount(parent, sub, { limits: { requestsPerSecond: 1, burst: 5 } });
    t.equal(
      await problemCode(tenants.updateSubAccount(parent, sub, { limits: { requestsPerSecond: null } })),
      'invalid_request',
      'the burst would be left',
    );
    t.same((await tenants.listSubAccounts(parent, {}, { limit: 10 })).rows.length, 1);
  });

  await t.test('events show them before and after', async (t) => {
    const parent = (await createParent(tenants)).id;
    const sub = (await createSub(tenants, parent)).value.id;
    const { key } = await createKey(tenants, sub);
    await tenants.updateSubAccount(parent, sub, { limits: { requestsPerSecond: 5 } });
    await tenants.updateSubAccount(parent, sub, { limits: { requestsPerSecond: 5 } });
    await tenants.updateKey(sub, key.id, { limits: { requestsPerSecond: 5 } });
    await tenants.updateKey(sub, key.id, { limits: {} });
    await tenants.updateParent(parent, { limits: { requestsPerMonth: 5 } });
    const { rows } = await events.list({ account: parent }, { limit: 3 });
    t.match(
      rows.map(({ type, subject }) =>
        subject.kind === 'quota' ? [] : [type, subject.before?.limits, subject.after.limits],
      ),
      [
        ['account.updated', noLimits, { ...noLimits, requestsPerMonth: 5 }],
        ['api_key.updated', noLimits, five],
        ['sub_account.updated', noLimits, five],
      ],
    );
  });
}
