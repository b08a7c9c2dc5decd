/** What every source of facts returns. */
import type { Test } from 'tap';
import type { Store } from '../../src/adapters/postgres/store.ts';
import { digestSecret } from '../../src/domain/api-key.ts';
import type { AccountId } from '../../src/domain/ids.ts';
import { factKey, type Seq } from '../../src/ports/facts.ts';
import { newAccountId } from '../support/drafts.ts';
import { createKey, createParent, createSub } from '../support/store.ts';

export async function factSourceContract(t: Test, { tenants, facts, log }: Store): Promise<void> {
  const parent = (await createParent(tenants, { externalId: 'its-own' })).id;
  const expiresAt = new Date('2031-02-03T04:05:06.789Z');
  const { value: sub } = await createSub(tenants, parent, { externalId: 'x:y' });
  const ofParent = await createKey(tenants, parent, { scopes: ['sub_accounts:write'] });
  const ofSub = await createKey(tenants, sub.id, { scopes: ['a', 'b:c'], expiresAt });

  const parentFact = {
    ...{ id: parent, parentId: null, externalId: 'its-own', status: 'active' },
    ...{ limits: null, plan: null },
  };
  const subFact = {
    ...{ id: sub.id, parentId: parent, externalId: 'x:y', status: 'active' },
    ...{ limits: null, plan: null },
  };
  const parentFacts = [
    [factKey.account(parent), parentFact],
    [factKey.activeSubAccounts(parent), 1],
  ] as const;
  const subFacts = [[factKey.account(sub.id), subFact], ...parentFacts] as const;

  const keyOfParent = keyFact(ofParent.key, ['sub_accounts:write'], null);
  const keyOfSub = keyFact(ofSub.key, ['a', 'b:c'], +expiresAt);
  const cases = [
    ["a parent's key", factKey.key(ofParent.digest), parentFacts, keyOfParent],
    ["a sub-account's key", factKey.key(ofSub.digest), subFacts, keyOfSub],
    ['a sub-account', factKey.account(sub.id), subFacts, subFact],
    ['a parent', factKey.account(parent), parentFacts, parentFact],
    ['an external_id', factKey.externalId(parent, 'x:y'), subFacts, sub.id],
    ['an active count', factKey.activeSubAccounts(parent), parentFacts, 1],
  ] as const;
  for (const [name, key, companions, value] of cases) {
    await t.test(`${name} comes with what a decision asks for next, in one reading`, async (t) => {
      const reading = await facts.readFacts([key]);
      t.same(reading.facts, new Map<string, unknown>([...companions, [key, value]]));
      const { seq, incarnation } = await log.replicas();
      t.same([reading.seq, reading.incarnation], [seq, incarnation]);
    });
  }

  await t.test('several keys are read at once, each with what goes with it', async (t) => {
    const [known, other] = [factKey.key(ofSub.digest), factKey.key(ofParent.digest)];
    const absent = Array.from({ length: 200 }, (_, i) => factKey.key(digestSecret(`no such key ${i}`)));
    const reading = await facts.readFacts([...absent, known, other, known]);
    t.same(
      reading.facts,
      new Map<string, unknown>([
        ...absent.map((key) => [key, null] as const),
        ...subFacts,
        [known, keyOfSub],
        [other, keyOfParent],
      ]),
    );
    const { seq, incarnation } = await log.replicas();
    t.same([reading.seq, reading.incarnation], [seq, incarnation]);
    t.same((await facts.readFacts(absent)).facts, new Map(absent.map((key) => [key, null])));
  });

  await t.test('names of one parent are read at once, and accounts of any', async (t) => {
    const other = (await createParent(tenants)).id;
    // The same name below another parent, which a reading must not mix up with this one's.
    await createSub(tenants, other, { externalId: 'x:y' });
    const { value: second } = await createSub(tenants, parent, { externalId: 'second' });
    const absent = Array.from({ length: 100 }, (_, i) => factKey.externalId(parent, `none,${i}"'`));
    const [first, last] = [factKey.externalId(parent, 'x:y'), factKey.externalId(parent, 'second')];
    const names = (await facts.readFacts([first, ...absent, last, first])).facts;
    t.same([names.get(first), names.get(last)], [sub.id, second.id]);
    for (const key of absent) t.equal(names.get(key), null);
    t.equal([...names.keys()].filter((key) => key.startsWith('x:')).length, 102);

    const [none, count] = [factKey.account(newAccountId()), factKey.activeSubAccounts(other)];
    const asked = [factKey.account(sub.id), none, count, factKey.account(second.id)] as const;
    const accounts = (await facts.readFacts(asked)).facts;
    t.match(accounts.get(asked[0]), subFact);
    t.match(accounts.get(asked[3]), { id: second.id });
    t.same([accounts.get(none), accounts.get(count)], [null, 1]);
    const { seq, incarnation } = await log.replicas();
    const reading = await facts.readFacts(asked);
    t.same([reading.seq, reading.incarnation], [seq, incarnation]);
    await tenants.setSubAccountStatus(parent, second.id, 'deactivated');
  });

  await t.test('what does not exist is known not to', async (t) => {
    const other = (await createParent(tenants)).id;
    for (const key of [
      factKey.key(digestSecret('no such key')),
      factKey.account(newAccountId()),
      factKey.externalId(parent, 'X:Y'),
      factKey.externalId(other, 'x:y'),
      factKey.activeSubAccounts(newAccountId()),
    ]) {
      t.same((await facts.readFacts([key])).facts, new Map([[key, null]]), key);
    }
    const none = factKey.activeSubAccounts(sub.id);
    t.equal((await facts.readFacts([none])).facts.get(none), null, 'a sub-account has no sub-accounts');
  });

  await t.test('a revoked key and a suspended parent are read as such', async (t) => {
    await tenants.revokeKey(sub.id, ofSub.key.id);
    await tenants.setParentStatus(parent, 'suspended');
    const reading = await facts.readFacts([factKey.key(ofSub.digest)]);
    t.match(reading.facts.get(factKey.key(ofSub.digest)), { revoked: true });
    t.match(reading.facts.get(factKey.account(parent)), { status: 'suspended' });
  });

  await t.test('a snapshot that sees a position sees every mutation up to it', async (t) => {
    const parent = (await createParent(tenants)).id;
    const subs = await Promise.all(Array.from({ length: 4 }, () => createSub(tenants, parent)));
    const histories = new Map(subs.map(({ value }) => [value.id, [] as { seq: Seq; status: string }[]]));
    const readings: { id: AccountId; seq: Seq; status: string | undefined }[] = [];
    let writing = true;

    async function write(id: AccountId): Promise<void> {
      // Until the readers have been there, too, however busy the machine.
      for (let i = 0; i < 30 || readings.length <= ids.length; i++) {
        const status = i % 2 === 0 ? 'deactivated' : 'active';
        const { seq } = (await tenants.setSubAccountStatus(parent, id, status)) ?? {};
        histories.get(id)?.push({ seq: seq ?? NaN, status });
      }
    }
    async function read(id: AccountId): Promise<void> {
      while (writing) {
        const { seq, facts: found } = await facts.readFacts([factKey.account(id)]);
        const fact = found.get(factKey.account(id));
        readings.push({
          id,
          seq,
          status: fact && typeof fact === 'object' && 'status' in fact ? fact.status : undefined,
        });
      }
    }
    const ids = [...histories.keys()];
    const readers = Promise.all(ids.map(read));
    await Promise.all(ids.map(write));
    writing = false;
    await readers;

    const positions = [...histories.values()].flat().map(({ seq }) => seq);
    t.equal(new Set(positions).size, positions.length, 'no two mutations share a position');
    const wrong = readings.filter(({ id, seq, status }) => {
      const last = histories.get(id)?.findLast((mutation) => mutation.seq <= seq);
      return status !== (last?.status ?? 'active');
    });
    t.same(wrong, [], `${readings.length} readings`);
    t.ok(readings.length > ids.length);
  });
}

function keyFact(
  { id, accountId }: { readonly id: string; readonly accountId: string },
  scopes: readonly string[],
  expiresAtMs: number | null,
): object {
  return { keyId: id, accountId, scopes, expiresAtMs, revoked: false, limits: null, limitId: id };
}
