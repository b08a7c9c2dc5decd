// class: app
/** A leaked key that leaves as many events and keys in the database as it can. */
import { randomBytes, randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import type { ChangeCaller } from '../../src/ports/changes.ts';
import { startApis, type Parent } from '../support/apis.ts';
import { keyDraft } from '../support/drafts.ts';
import { createKey, createParent, createSub, freshStore, problemCode, rawSql } from '../support/store.ts';

const large = () => ({ metadata: { text: randomBytes(250).toString('hex') } });
/** Changes until one is refused; how many were not. */
async function flood(parent: Parent, path: string): Promise<number> {
  for (let i = 0; i < 100; i++) {
    const { status, headers, body } = await parent.call('PATCH', path, { body: large() });
    if (status === 200) continue;
    if (status !== 429 || body['code'] !== 'too_many_requests') throw new Error(JSON.stringify(body));
    const seconds = Number(headers['retry-after']);
    const midnight = new Date().setUTCHours(24, 0, 0, 0);
    if (Math.abs(Date.now() / 1000 + seconds - midnight / 1000) > 60) throw new Error(`${seconds} s`);
    return i;
  }
  throw new Error('no change was refused');
}

async function setUp(t: Test) {
  const { store, url } = await freshStore(t);
  const limits = { keysPerAccount: 2, changesPerSecond: 0 };
  const [apis, replica] = [
    await startApis(t, { store, limits, eventBytesPerDay: 50_000 }),
    await startApis(t, { store, limits, eventBytesPerDay: 50_000 }),
  ];
  return { apis, replica, store, sql: rawSql(t, url) };
}

t.test('what the changes of a parent leave in a day is bounded, over all replicas', async (t) => {
  const { apis, replica, sql } = await setUp(t);
  const [parent, other] = [await apis.parent(), await apis.parent()];
  const sub = await parent.create();
  const theirs = await other.create();
  const changes = await flood(parent, `/${sub.id}`);
  t.ok(changes > 10 && changes < 60, `${changes} changes`);
  const elsewhere = { key: parent.key, body: { name: 'New' } };
  t.equal(
    (await replica.call('PATCH', `/v1/sub-accounts/${sub.id}`, elsewhere)).status,
    429,
    'another replica',
  );
  t.equal((await parent.call('POST', '', { body: { name: 'New' } })).status, 429);
  t.equal((await parent.call('POST', `/${sub.id}/api-keys`, { body: { name: 'key' } })).status, 429);
  const put = { body: { name: 'New' } };
  t.equal((await parent.call('PUT', '/by-external-id/new', put)).status, 429);
  t.equal((await other.call('PATCH', `/${theirs.id}`, { body: large() })).status, 200, 'another parent');
  t.equal((await apis.operator('PATCH', `/accounts/${parent.id}`, { body: { name: 'New' } })).status, 200);
  const [{ bytes }] = await sql<[{ bytes: number }]>`
    select sum(pg_column_size(e))::int as bytes from event e where account_id = ${parent.id}`;
  t.ok(bytes < 50_000, `${bytes} bytes`);

  await sql`update event_spent set day = day - interval '1 day'`;
  t.equal((await parent.call('PATCH', `/${sub.id}`, { body: large() })).status, 200, 'the next day');
});

t.test('a key that has used up the day cannot keep anybody from taking it away', async (t) => {
  const { apis } = await setUp(t);
  const parent = await apis.parent();
  const [sub, last] = [await parent.create(), await parent.create()];
  const mint = async (): Promise<string> =>
    String((await parent.call('POST', `/${sub.id}/api-keys`, { body: { name: 'key' } })).body['id']);
  const [one, two] = [await mint(), await mint()];
  await flood(parent, `/${sub.id}`);
  const rotate = (key: string, overlap: number) =>
    parent.call('POST', `/${sub.id}/api-keys/${key}/rotate`, { body: { expires_in: overlap } });
  t.equal((await rotate(one, 60)).status, 429);
  const rotated = await rotate(one, 0);
  t.equal(rotated.status, 201);
  t.equal((await rotate(String(rotated.body['id']), 0)).status, 429, 'once an hour');
  for (const [method, path, status] of [
    ['POST', `/${sub.id}/api-keys/${two}/revoke`, 200],
    ['POST', `/${sub.id}/api-keys/revoke-all`, 200],
    ['POST', `/${sub.id}/deactivate`, 200],
    ['POST', `/${sub.id}/reactivate`, 429],
    ['DELETE', `/${sub.id}`, 204],
    ['POST', `/${last.id}/deactivate`, 200],
    ['DELETE', `/portal-sessions/${randomUUID()}`, 404],
  ] as const)
    t.equal((await parent.call(method, path)).status, status, `${method} ${path}`);
});

t.test('an account mints ten times its maximum of keys a day, however often they are revoked', async (t) => {
  const { apis } = await setUp(t);
  const parent = await apis.parent();
  const [sub, other] = [await parent.create(), await parent.create()];
  let minted = 0;
  let last = 201;
  while (last === 201 && minted < 50) {
    if (minted % 2 === 0) await parent.call('POST', `/${sub.id}/api-keys/revoke-all`);
    last = (await parent.call('POST', `/${sub.id}/api-keys`, { body: { name: 'key' } })).status;
    if (last === 201) minted += 1;
  }
  t.same([last, minted], [429, 20]);
  t.equal((await parent.call('POST', `/${other.id}/api-keys`, { body: { name: 'key' } })).status, 201);
  t.equal(
    (await apis.operator('POST', `/accounts/${parent.id}/api-keys`, { body: { name: 'key', scopes: [] } }))
      .status,
    201,
  );
});

t.test('a session of the portal may use a twentieth of a day', async (t) => {
  const { tenants, portalSessions } = (await freshStore(t)).store;
  const accountId = (await createParent(tenants)).id;
  const sub = (await createSub(tenants, accountId)).value.id;
  const budget = { bytes: 100_000, api_keys: 1_000 };
  const caller: ChangeCaller = { accountId, keyId: (await createKey(tenants, accountId)).key.id, budget };
  const link = randomBytes(32);
  const id = randomUUID();
  await portalSessions.create(
    {
      id,
      subAccountId: null,
      permissions: ['keys:write'],
      scopes: [],
      user: null,
      returnUrl: null,
      digest: link,
    },
    60_000,
    9,
    caller,
  );
  await portalSessions.redeem(link, randomBytes(32), 60_000, '');
  const mint = (by: ChangeCaller) => problemCode(tenants.createKey(sub, keyDraft(), 1_000, null, by));
  let made = 0;
  while ((await mint({ ...caller, portalSession: id })) === undefined && made < 50) made += 1;
  t.ok(made > 2 && made < 10, `${made} keys`);
  t.equal(await mint({ ...caller, portalSession: id }), 'too_many_requests');
  t.equal(await mint(caller), undefined, 'the parent goes on');
});

t.test('keys that ended long ago are deleted, and their usage stays', async (t) => {
  const { store, sql } = await freshStore(t);
  const { tenants, events } = store;
  const parent = (await createParent(tenants)).id;
  const mint = async (): Promise<string> => (await createKey(tenants, parent)).key.id;
  const [revoked, expired, lately] = [await mint(), await mint(), await mint()];
  const [active, both] = [await mint(), await mint()];
  await sql`update api_key set revoked_at = now() - interval '401 days' where id in ${sql([revoked, both])}`;
  await sql`update api_key set expires_at = now() - interval '401 days' where id = ${expired}`;
  await sql`update api_key set expires_at = now() + interval '1 day' where id = ${both}`;
  await sql`update api_key set revoked_at = now() - interval '399 days' where id = ${lately}`;
  await sql`insert into usage_hourly values (${parent}, ${parent}, date_trunc('hour', now(), 'UTC'), ${revoked}, 1, 1, 0, 0, 0, 0, 0)`;
  const portion = { nowMs: Date.now(), days: 400, most: 2 };
  t.match(await events.prune({ ...portion, nowMs: 86_400_000_000 }), { more: false });
  t.match(await events.prune(portion), { more: true });
  t.match(await events.prune(portion), { more: false });
  const left = await sql<{ id: string }[]>`select id from api_key order by id`;
  t.same(
    left.map(({ id }) => id),
    [lately, active],
  );
  t.match(await sql`select requests from usage_hourly`, [{ requests: 1 }]);
});
