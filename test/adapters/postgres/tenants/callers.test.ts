// class: app
/** Which of two comes first: a change that a key asks for, or what ends the right to it. */
import t from 'tap';
import type { SubAccount } from '../../../../src/domain/account.ts';
import type { AccountId } from '../../../../src/domain/ids.ts';
import type { ChangeCaller } from '../../../../src/ports/changes.ts';
import type { TenantStore } from '../../../../src/ports/tenant-store.ts';
import { subAccountDraft } from '../../../support/drafts.ts';
import {
  createKey,
  createParent,
  createSub,
  freshStore,
  problemCode,
  rawSql,
  storeAt,
  waitForLocks,
} from '../../../support/store.ts';

/** A statement ends when the test lets it. */
const deadlines = { queryMs: 120_000 };
const { url, store, sql } = await freshStore(t, { deadlines, maxConnections: 10 });
/** Another replica's. */
const elsewhere = storeAt(t, url, { deadlines, maxConnections: 10 });
const { tenants } = store;
const looking = rawSql(t, url);

async function newCaller(): Promise<ChangeCaller> {
  const { id } = await createParent(tenants);
  return { accountId: id, keyId: (await createKey(tenants, id)).key.id };
}

function create(through: TenantStore, caller: ChangeCaller): Promise<unknown> {
  return through.createSubAccount(caller.accountId, subAccountDraft(), 1_000, null, caller);
}

/** Resolves once that many statements of this database wait for a lock. */
function waiting(count: number): Promise<void> {
  return waitForLocks(looking, count);
}

async function subAccountsOf(parent: AccountId): Promise<readonly SubAccount[]> {
  return (await tenants.listSubAccounts(parent, {}, { limit: 100 })).rows;
}

/** By an operator, through the other replica. */
function revoke({ accountId, keyId }: ChangeCaller): Promise<unknown> {
  return elsewhere.tenants.revokeKey(accountId, keyId);
}

function revokeAll({ accountId }: ChangeCaller): Promise<unknown> {
  return elsewhere.tenants.revokeAllKeys(accountId);
}

function suspend({ accountId }: ChangeCaller): Promise<unknown> {
  return elsewhere.tenants.setParentStatus(accountId, 'suspended');
}

t.test('a change waits for a revoke that is being committed, and then sees it', async (t) => {
  const caller = await newCaller();
  let change: Promise<unknown> | undefined;
  await sql.begin(async (tx) => {
    await tx`select api_key_revoke('{}', ${caller.accountId}, ${caller.keyId})`;
    change = problemCode(create(tenants, caller));
    await waiting(1);
  });
  t.equal(await change, 'api_key_revoked');
  t.same(await subAccountsOf(caller.accountId), []);
});

for (const [name, end, code] of [
  ['revoke', revoke, 'api_key_revoked'],
  ['revoke of all keys', revokeAll, 'api_key_revoked'],
  ['suspension', suspend, 'account_suspended'],
] as const) {
  t.test(`a ${name} waits for the change that began before it, and later ones do not pass it`, async (t) => {
    const caller = await newCaller();
    const { accountId } = caller;
    const { value: sub } = await createSub(tenants, accountId);
    let all: readonly Promise<unknown>[] = [];
    await sql.begin(async (tx) => {
      await tx`select from account where id = ${accountId} for update`;
      const first = problemCode(create(tenants, caller));
      await waiting(1);
      const ending = end(caller);
      await waiting(2);
      // These need no row that the transaction has: nothing keeps them but that the other one came first.
      const later = [tenants, elsewhere.tenants].map((through) =>
        problemCode(through.updateSubAccount(accountId, sub.id, { name: 'Late' }, caller)),
      );
      await waiting(4);
      all = [first, ending, ...later];
    });
    const [first, ended, ...later] = await Promise.all(all);
    t.equal(first, undefined, 'what began before is made');
    t.ok(ended);
    t.same(later, [code, code]);
    t.same(
      (await subAccountsOf(accountId)).map(({ name }) => name),
      ['Sub', 'Sub'],
    );
  });
}

t.test('a revoke of one parent’s key does not wait for the changes of another', async (t) => {
  const [loud, quiet] = [await newCaller(), await newCaller()];
  let change: Promise<unknown> | undefined;
  await sql.begin(async (tx) => {
    await tx`select from account where id = ${loud.accountId} for update`;
    change = create(tenants, loud);
    await waiting(1);
    t.match(await elsewhere.tenants.revokeKey(quiet.accountId, quiet.keyId), { value: { revokedAt: Date } });
  });
  await change;
});

t.test('whatever is under way, nothing changes once the end of the right is there', async (t) => {
  for (let round = 0; round < 12; round++) {
    const caller = await newCaller();
    const { accountId } = caller;
    const { value: sub } = await createSub(tenants, accountId);
    const stores = [tenants, elsewhere.tenants];
    const changes = Array.from({ length: 12 }, (_, i) => {
      const through = stores[i % 2] ?? tenants;
      const status = i % 4 < 2 ? 'deactivated' : 'active';
      return i % 3 === 0
        ? problemCode(through.setSubAccountStatus(accountId, sub.id, status, null, caller))
        : problemCode(create(through, caller));
    });
    const [end, code] =
      round % 2 === 0 ? ([revoke, 'api_key_revoked'] as const) : ([suspend, 'account_suspended'] as const);
    // After a different number of them each time.
    await Promise.all(changes.slice(0, round));
    await end(caller);
    const then = await subAccountsOf(accountId);
    for (const outcome of await Promise.all(changes))
      t.ok(outcome === undefined || outcome === code, String(outcome));
    t.same(await subAccountsOf(accountId), then);
    t.equal(await problemCode(create(tenants, caller)), code);
  }
});
