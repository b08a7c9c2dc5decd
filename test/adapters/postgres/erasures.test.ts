// class: app
/** Erasure in PostgreSQL: what only SQL behind the store's back, or many rows, can show. */
import { randomBytes, randomUUID } from 'node:crypto';
import t from 'tap';
import { openPostgres, type Store } from '../../../src/adapters/postgres/store.ts';
import type { AccountId } from '../../../src/domain/ids.ts';
import { keyDraft, newClaim, subAccountDraft } from '../../support/drafts.ts';
import {
  createKey,
  createParent,
  createSub,
  freshStore,
  pagesRead,
  tablesWith,
} from '../../support/store.ts';
import { unhurried } from '../../support/unhurried.ts';

const most = 1_000;

/** Returns how many rows each batch erased. Only one account is being erased. */
async function eraseAll({ erasures }: Store, most = 500): Promise<readonly number[]> {
  const totals = [0];
  for (;;) {
    const batch = await erasures.run({ settledMs: 0, most });
    if (batch === null) return totals.slice(1).map((total, i) => total - (totals[i] ?? 0));
    totals.push(batch.accounts + batch.apiKeys + batch.events);
  }
}

/** A parent with a sub-account, and the word `canary` in every text that a caller can give. */
async function canaries({ tenants, portalSessions }: Store): Promise<Record<'parent' | 'sub', AccountId>> {
  const operator = { operator: 'alice', requestId: 'r', address: '192.0.2.99' };
  const texts = { name: 'canary', externalId: 'canary', metadata: { canary: 'canary' } };
  const { id: parent } = await createParent(tenants, texts, newClaim('operator'));
  const drafted = subAccountDraft(texts);
  await tenants.createSubAccount(parent, drafted, most, newClaim('operator'), operator);
  const sub = drafted.id;
  for (const account of [parent, sub]) {
    const key = keyDraft({ name: 'canary' });
    await tenants.createKey(account, key, most, newClaim('operator'), operator);
    await tenants.updateKey(account, key.id, { name: 'canary two' }, operator);
    const rotation = { ...keyDraft(), overlapS: 60 };
    await tenants
      .rotateKey(account, key.id, rotation, newClaim('operator'), { accountId: parent, keyId: key.id })
      .catch(() => null);
  }
  const imported = [parent, sub].map((owner) => ({ ...keyDraft({ name: 'canary' }), owner }));
  await tenants.importKeys(parent, imported, most, newClaim('operator'), operator);
  const caller = { accountId: parent, keyId: (await createKey(tenants, parent, { name: 'canary' })).key.id };
  // Somebody in the portal mints a key; the session stays open.
  const session = {
    id: randomUUID(),
    subAccountId: sub,
    digest: randomBytes(32),
    returnUrl: null,
    scopes: [],
  };
  const link = { ...session, user: 'canary user', permissions: ['keys:write'] } as const;
  await portalSessions.create(link, 60_000, 10, caller);
  await portalSessions.redeem(session.digest, randomBytes(32), 60_000, '');
  const inPortal = { ...caller, portalSession: session.id };
  await tenants.createKey(sub, keyDraft({ name: 'canary' }), most, null, inPortal, parent);
  const changed = { externalId: 'canary-2', metadata: { canary: 'canary 2' } };
  await tenants.updateSubAccount(parent, sub, changed, caller);
  await tenants.setSubAccountStatus(parent, sub, 'deactivated', newClaim('operator'), {
    ...caller,
    address: '192.0.2.99',
  });
  return { parent, sub };
}

t.test('of a deleted sub-account nothing is left, and of its parent everything', async (t) => {
  const { store, sql } = await freshStore(t);
  const { parent, sub } = await canaries(store);
  const { value: other } = await createSub(store.tenants, parent, { name: 'other' });
  await store.tenants.deleteSubAccount(parent, sub);
  await eraseAll(store, 3);
  for (const [table, what, where] of [
    ['account', 'a', `a.id = '${sub}'`],
    ['api_key', 'a', `a.account_id = '${sub}'`],
    ['event', 'row(a.object, a.previous, a.address, a.actor_user)', `a.sub_account_id = '${sub}'`],
  ] as const) {
    const rows = await sql.unsafe(`select (${what})::text as text from ${table} a where ${where}`);
    t.ok(rows.length > 0, table);
    t.notMatch(rows.map(({ text }) => text as string).join(), /canary|192\.0\.2/, table);
  }
  t.match(await store.tenants.getParent(parent), { name: 'canary', externalId: 'canary' });
  t.match(await store.tenants.getSubAccount(parent, other.id), { name: 'other' });
  t.match(await store.events.list({ subAccount: other.id }, { limit: 1 }), {
    rows: [{ subject: { after: { name: 'other' } } }],
  });
  t.ok((await sql`select from api_key where account_id = ${parent} and name like 'canary%'`).length > 0);
});

t.test('an account of any size is deleted by one row, and erased a few rows at a time', async (t) => {
  const { store, sql } = await freshStore(t);
  const { id: parent } = await createParent(store.tenants, { name: 'canary' });
  const { key } = await createKey(store.tenants, parent);
  const [subs, events] = [5_000, 100_000];
  await sql`insert into account (id, parent_id, name, external_id, status, metadata)
    select gen_random_uuid(), ${parent}, 'canary', 'canary-' || n, 'active', '{}' from generate_series(1, ${subs}) n`;
  await sql`insert into api_key (id, account_id, name, scopes, digest, client_secret_digest, prefix, last4)
    select gen_random_uuid(), a.id, 'canary', '{}', sha256(a.id::text::bytea), sha256('x'), 'tgw_abcd', 'wxyz'
    from account a where a.parent_id = ${parent}`;
  await sql`insert into event (id, account_id, type, created_at, actor_kind, actor_name, address, object)
    select gen_random_uuid(), ${parent}, 'api_key.updated', now(), 'api_key', 'canary', '192.0.2.99',
      jsonb_build_object('id', ${key.id}::text, 'name', 'canary')
    from generate_series(1, ${events})`;
  await store.tenants.setParentStatus(parent, 'suspended');

  const { seq } = await store.log.replicas();
  const [{ now }] = await sql<[{ now: string }]>`select pg_current_xact_id()::xid::text as now`;
  t.match(await store.tenants.deleteParent(parent), { seq: seq + 1 });
  const written = await sql`
    select id from account where age(xmin) < age(${now}::xid)
    union all select id from api_key where age(xmin) < age(${now}::xid)`;
  t.same(written, [{ id: parent }], 'the deletion writes one row');
  t.equal((await store.log.readAfter(seq, 100)).entries.length, 1, 'one fact is logged');

  const batches = await eraseAll(store, 500);
  t.ok(Math.max(...batches) <= 500, `the longest batch erased ${Math.max(...batches)} rows`);
  t.match(await store.erasures.get(parent), { accounts: subs + 1, apiKeys: subs + 1, erasedAt: Date });
  for (const table of ['account', 'api_key', 'event'])
    t.same(await sql`select from ${sql(table)} x where x::text like '%canary%' limit 1`, [], table);
});

t.test('a batch reads as little with many pending erasures as with few', async (t) => {
  const { sql } = await freshStore(t);
  const pagesOfBatch = async (): Promise<number> => {
    // The first batches of a session also read the catalog.
    for (let i = 0; i < 3; i++) await sql`select erasure_run(interval '0 s', 500)`;
    return pagesRead(sql, `erasure_run(interval '0 s', 500)`);
  };
  const pending = async (n: number) => sql`
    insert into erasure (account_id, deleted_at) select gen_random_uuid(), now() - interval '1 hour' from generate_series(1, ${n}::int)`;
  await pending(50);
  const few = await pagesOfBatch();
  await pending(20_000);
  const many = await pagesOfBatch();
  t.ok(many < few + 100, `${many} pages, ${few} with few`);
});

t.test('one pass over the results serves all accounts that had been deleted when it began', async (t) => {
  const { store, sql } = await freshStore(t);
  const [most, others] = [10, 95];
  const deleted = async (): Promise<AccountId> => {
    const { id } = await createParent(store.tenants, { name: 'canary' }, newClaim('operator'));
    await store.tenants.setParentStatus(id, 'suspended', newClaim('operator'));
    await store.tenants.deleteParent(id);
    return id;
  };
  const first = [await deleted(), await deleted(), await deleted()];
  await sql`insert into idempotency (caller_key_id, key, fingerprint, made)
    select gen_random_uuid(), sha256(n::text::bytea), sha256('x'), '{"revoked": 1}'
    from generate_series(1, ${others}) n`;
  const places: string[] = [];
  let late: AccountId | undefined;
  while ((await store.erasures.run({ settledMs: 0, most })) !== null) {
    const [pass] = await sql<[{ place: string | null }]>`
      select at_caller || encode(at_key, 'hex') as place from erasure_pass`;
    if (pass.place !== null && pass.place !== places.at(-1)) places.push(pass.place);
    if (places.length > 0) late ??= await deleted();
  }
  const batches = Math.floor((others + 2 * first.length + 2) / most);
  t.equal(places.length, 2 * batches, 'the second pass serves the one that was deleted during the first');
  for (const id of [...first, late as AccountId])
    t.match(await store.erasures.get(id), { idempotencyRecords: 2, erasedAt: Date });
  t.same(await tablesWith(sql, 'canary'), []);
});

t.test('a batch that is interrupted leaves nothing half done, and the next process goes on', async (t) => {
  const { url, store, sql } = await freshStore(t);
  const { parent } = await canaries(store);
  await store.tenants.setParentStatus(parent, 'suspended');
  await store.tenants.deleteParent(parent);
  let batches = 0;
  for (;;) {
    const before = await store.erasures.get(parent);
    await sql
      .begin(async (tx) => {
        await tx`select erasure_run(interval '0', 2)`;
        throw new Error('killed');
      })
      .catch(() => undefined);
    t.same(await store.erasures.get(parent), before, 'undone');
    const other = openPostgres({ url, maxConnections: 4, deadlines: unhurried.deadlines });
    const batch = await other.erasures.run({ settledMs: 0, most: 2 });
    await other.close();
    if (batch === null) break;
    batches += 1;
  }
  t.ok(batches > 10);
  t.same(await tablesWith(sql, 'canary'), []);
});

t.test('an event changes by the guarded function', async (t) => {
  const { store, sql } = await freshStore(t);
  await createParent(store.tenants);
  await sql`select event_erase(array(select id from event), 'texts')`;
  t.match(await sql`select object ->> 'name' as name from event`, [{ name: null }]);
});

t.test('events lose their addresses after their days, in portions, and keep all else', async (t) => {
  const { store, sql } = await freshStore(t);
  const { id } = await createParent(store.tenants);
  const day = 86_400_000;
  for (const days of [100, 95, 92, 89, 1])
    await sql`insert into event (id, account_id, type, created_at, actor_kind, actor_name, address, object)
      select overlay(gen_random_uuid()::text placing left(event_floor(at)::text, 13) from 1)::uuid, ${id},
        'account.updated', at, 'operator', 'alice', '192.0.2.99', '{"name": "kept"}'
      from (select ${new Date(Date.now() - days * day)}::timestamptz as at) a`;
  const portion = (nowMs: number) => store.erasures.eraseAddresses({ nowMs, days: 90, most: 2 });
  t.equal(await portion(Date.now() - 20 * day), 0, 'by the clock of the gateway, none is old enough');
  t.equal(await portion(Date.now() + 20 * day), 2, 'by the clock of the database, three are');
  t.equal(await portion(Date.now()), 1);
  t.equal(await portion(Date.now()), 0, 'and none is looked at again');
  const rows = await sql<{ address: string | null; days: number }[]>`
    select address, round(extract(epoch from now() - created_at) / 86400)::int as days from event
    where actor_kind = 'operator' and object ->> 'name' = 'kept' and actor_name = 'alice' order by id`;
  t.same(
    rows.map(({ address, days }) => [days, address !== null]),
    [
      [100, false],
      [95, false],
      [92, false],
      [89, true],
      [1, true],
    ],
  );
});
