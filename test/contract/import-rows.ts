/** What a store does with many rows in one call: parents, sub-accounts and keys of any parents. */
import { randomBytes } from 'node:crypto';
import type { Test } from 'tap';
import { digestSecret } from '../../src/domain/api-key.ts';
import type { AccountId } from '../../src/domain/ids.ts';
import { factKey } from '../../src/ports/facts.ts';
import type { KeyRowToImport, ParentToImport, SubAccountToImport } from '../../src/ports/imports.ts';
import type { Store } from '../../src/adapters/postgres/store.ts';
import { newAccountId, newKeyId } from '../support/drafts.ts';
import { createKey, createParent, createSub } from '../support/store.ts';

const noLimit = 1_000_000;
const plan = { isPlan: true };

function parentRow(externalId: string, more: Partial<ParentToImport> = {}): ParentToImport {
  return { id: newAccountId(), externalId, name: 'Name', metadata: {}, ...more };
}

function subRow(
  parentExternalId: string,
  externalId: string,
  more: Partial<ParentToImport> = {},
): SubAccountToImport {
  return { ...parentRow(externalId, more), parentExternalId };
}

function keyRow(parentExternalId: string, more: Partial<KeyRowToImport> = {}): KeyRowToImport {
  const digest = digestSecret(randomBytes(24).toString('hex'));
  const shown = { prefix: null, last4: null };
  return {
    ...{ id: newKeyId(), name: 'Imported', scopes: ['a:b'], digest, expiresAt: null, subExternalId: null },
    ...{ ...shown, parentExternalId },
    ...more,
  };
}

export async function importRowsContract(t: Test, { tenants, log, facts }: Store): Promise<void> {
  const outcomes = async (call: ReturnType<typeof tenants.importParents>): Promise<string[]> =>
    (await call).value.map(({ outcome }) => outcome);
  const position = async (): Promise<number> => (await log.replicas()).seq;

  await t.test('parents are created, changed, left alone or left out, each by itself', async (t) => {
    const there = await createParent(tenants, { externalId: 'rows-there', metadata: { a: '1' } });
    const same = await createParent(tenants, { externalId: 'rows-same', metadata: { a: '1', b: '2' } });
    const pairs = Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${i}`, 'v']));
    const rows = [
      parentRow('rows-new', { metadata: { x: 'y', none: null } }),
      parentRow('rows-there', { name: 'Changed', metadata: { a: null, c: '3' } }),
      parentRow('rows-same', { name: same.name, metadata: { a: '1', none: null } }),
      parentRow('rows-other', { id: there.id, idGiven: true }),
      parentRow('rows-there-2', { id: newAccountId(), idGiven: true }),
      parentRow('rows-many', { metadata: pairs }),
    ];
    const expected = ['created', 'updated', 'unchanged', 'id-taken', 'created', 'too-many-pairs'];
    t.same(await outcomes(tenants.importParents(rows, plan)), expected, 'as the plan says');
    t.same((await tenants.listParents({ externalId: 'rows-new' }, { limit: 1 })).rows, []);
    const { value } = await tenants.importParents(rows);
    t.same(
      value.map(({ outcome }) => outcome),
      expected,
    );
    t.match(await tenants.getParent(value[0]?.id as AccountId), {
      externalId: 'rows-new',
      metadata: { x: 'y', none: undefined },
    });
    t.match(await tenants.getParent(there.id), { name: 'Changed', metadata: { a: undefined, c: '3' } });
    t.same(await tenants.getParent(same.id), same);
    const again = ['unchanged', 'unchanged', 'unchanged', 'id-taken', 'unchanged', 'too-many-pairs'];
    t.same(await outcomes(tenants.importParents(rows)), again);
    const otherId = [parentRow('rows-new', { idGiven: true })];
    t.match((await tenants.importParents(otherId)).value, [
      { outcome: 'external-id-taken', id: value[0]?.id },
    ]);
  });

  await t.test(
    'two rows that name one sub-account, by either id of its parent, come one after the other',
    async (t) => {
      const { id: parent } = await createParent(tenants, { externalId: 'subs-twice' });
      const { parentExternalId: _, ...row } = {
        ...subRow('', 'twice', { name: 'Second' }),
      } as SubAccountToImport & {
        parentExternalId: string;
      };
      const rows: SubAccountToImport[] = [subRow('subs-twice', 'twice'), { ...row, parent }];
      t.same((await outcomes(tenants.importSubAccounts(rows, noLimit))).sort(), ['created', 'updated']);
      t.equal((await tenants.getParent(parent))?.activeSubAccounts, 1);
    },
  );

  await t.test('sub-accounts of several parents come with one position, and are counted', async (t) => {
    const [one, two] = [
      await createParent(tenants, { externalId: 'subs-1' }),
      await createParent(tenants, { externalId: 'subs-2' }),
    ];
    const { value: there } = await createSub(tenants, two.id, { externalId: 'there', metadata: { a: '1' } });
    await tenants.setSubAccountStatus(two.id, there.id, 'deactivated');
    const { parentExternalId: _, ...byId } = subRow('', 'by-id') as SubAccountToImport & {
      parentExternalId: string;
    };
    const rows: SubAccountToImport[] = [
      subRow('subs-2', 'there', { name: 'Changed' }),
      subRow('subs-1', 'a'),
      subRow('subs-none', 'a'),
      subRow('subs-2', 'a', { id: one.id, idGiven: true }),
      { ...byId, parent: one.id },
      subRow('subs-2', 'b'),
    ];
    const expected = ['updated', 'created', 'no-account', 'id-taken', 'created', 'created'];
    const before = await position();
    t.same(await outcomes(tenants.importSubAccounts(rows, noLimit, plan)), expected);
    t.equal((await tenants.getParent(one.id))?.activeSubAccounts, 0, 'a plan does nothing');
    const made = await tenants.importSubAccounts(rows, noLimit);
    t.same(
      made.value.map(({ outcome }) => outcome),
      expected,
    );
    t.equal((await tenants.getParent(one.id))?.activeSubAccounts, 2);
    t.equal((await tenants.getParent(two.id))?.activeSubAccounts, 1, 'one stays deactivated');
    t.match(await tenants.getSubAccount(two.id, there.id), { name: 'Changed', status: 'deactivated' });
    const { entries } = await log.readAfter(before, 10);
    t.same(
      new Set(entries.map(({ key, seq }) => `${seq} ${key}`)),
      new Set([one, two].map(({ id }) => `${before + 1} ${factKey.activeSubAccounts(id)}`)),
    );
    t.equal(made.seq, before + 1);
    t.same(
      await outcomes(tenants.importSubAccounts(rows, noLimit)),
      expected.map((outcome) => (/ed$/.test(outcome) ? 'unchanged' : outcome)),
    );
    t.equal(await position(), before + 1);
    t.same(await outcomes(tenants.importSubAccounts([subRow('subs-1', 'c'), subRow('subs-1', 'd')], 3)), [
      'created',
      'limit',
    ]);
  });

  await t.test('what a killed import has made is waited for by the one that finds it', async (t) => {
    await createParent(tenants, { externalId: 'resumed' });
    await log.register({ id: 'slow', nonce: 'n', leaseMs: 1_000, streamsMs: 0 });
    const rows = [subRow('resumed', 'first')];
    const { seq } = await tenants.importSubAccounts(rows, noLimit);
    t.match(await tenants.importSubAccounts(rows, noLimit), { seq, value: [{ outcome: 'unchanged' }] });
    await log.ack('slow', seq ?? 0, 0);
    t.match(await tenants.importSubAccounts(rows, noLimit), { seq: null });
    await log.removeReplica('slow', 'n');
  });

  await t.test('keys of several accounts come with one position, each by itself', async (t) => {
    const one = await createParent(tenants, { externalId: 'keys-1' });
    const two = await createParent(tenants, { externalId: 'keys-2' });
    const { value: sub } = await createSub(tenants, two.id, { externalId: 'sub' });
    const { digest: taken } = await createKey(tenants, one.id);
    const { digest: had } = await createKey(tenants, sub.id);
    const rows = [
      keyRow('keys-1'),
      keyRow('keys-2', { subExternalId: 'sub' }),
      keyRow('keys-2', { digest: taken }),
      keyRow('keys-2', { subExternalId: 'sub', digest: had }),
      keyRow('keys-2', { subExternalId: 'none' }),
      keyRow('keys-none'),
      keyRow('keys-none', { digest: had }),
    ];
    const outcome = ['created', 'created', 'key-taken', 'unchanged', 'no-sub-account', 'no-account'];
    t.same(await outcomes(tenants.importKeyRows(rows, noLimit, plan)), [...outcome, 'key-taken']);
    const before = await position();
    const made = await tenants.importKeyRows(rows, noLimit);
    t.same(
      made.value.map((row) => row.outcome),
      [...outcome, 'no-account'],
    );
    t.equal(made.seq, before + 1);
    const keys = rows.slice(0, 2).map(({ digest }) => factKey.key(digest));
    const { entries } = await log.readAfter(before, 10);
    t.same(new Set(entries.map(({ key }) => key)), new Set(keys));
    const reading = await facts.readFacts(keys);
    t.match([...reading.facts.values()], [{ accountId: one.id }, { accountId: sub.id }]);
    const again = await tenants.importKeyRows(rows, noLimit);
    t.match(again.value.slice(0, 2), [
      { outcome: 'unchanged', id: made.value[0]?.id },
      { outcome: 'unchanged', id: made.value[1]?.id },
    ]);
    t.equal(again.seq, before + 1);
    for (const options of [plan, {}]) {
      const other = { ...(rows[0] as KeyRowToImport), scopes: ['other:read'] };
      const marked = await tenants.importKeyRows([other, rows[1] as KeyRowToImport], noLimit, options);
      t.same(
        marked.value.map(({ outcome, otherScopes }) => [outcome, otherScopes]),
        [
          ['unchanged', true],
          ['unchanged', undefined],
        ],
        'a key keeps its scopes, and the result says so',
      );
    }
    t.same(await outcomes(tenants.importKeyRows([keyRow('keys-1'), keyRow('keys-1')], 3)), [
      'created',
      'limit',
    ]);
  });

  await t.test('imports of the same rows at once make each of them once', async (t) => {
    const rows = Array.from({ length: 20 }, (_, i) => parentRow(`at-once-${i}`));
    const shuffled = [rows, [...rows].reverse(), rows.slice(5), rows.slice(0, 15)];
    const results = await Promise.all(
      shuffled.map((list) =>
        outcomes(tenants.importParents(list.map((row) => ({ ...row, id: newAccountId() })))),
      ),
    );
    t.equal(results.flat().filter((outcome) => outcome === 'created').length, 20);
    t.same(new Set(results.flat()), new Set(['created', 'unchanged']));
    const patches = rows.map(async ({ externalId }) => {
      const [found] = (await tenants.listParents({ externalId }, { limit: 1 })).rows;
      return tenants.updateParent(found?.id as AccountId, { name: 'Patched' });
    });
    const renamed = rows.map((row, i) => ({ ...row, name: `Renamed ${i}` }));
    await Promise.all([
      ...patches,
      tenants.importParents(renamed),
      tenants.importParents([...renamed].reverse()),
    ]);
  });
}
