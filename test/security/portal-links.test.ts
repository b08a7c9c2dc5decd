// class: app
/** Links and sessions of the portal that are used twice, late, by guessing, or after their end. */
import t from 'tap';
import { startApis } from '../support/apis.ts';
import { embeddedStore } from '../support/embedded.ts';
import type { Call } from '../support/http-client.ts';
import { makeLink, openPortal, portalCall } from '../support/portal.ts';

const store = await embeddedStore(t);
const one = await startApis(t, { store, portal: {} });
/** Another replica. */
const other = await startApis(t, { store, portal: {} });
const bare = portalCall(t, other);
const redeem = async (link: string): Promise<number> =>
  (await bare('POST', '/redeem', { body: { link } })).status;
const isOpen = async (call: Call): Promise<boolean> => (await call('GET', '/session')).status === 200;

t.test('a link is redeemed once, of many at the same time', async (t) => {
  const { link } = await makeLink(await one.parent());
  const statuses = await Promise.all(Array.from({ length: 20 }, () => redeem(link)));
  t.same(statuses.filter((status) => status === 201).length, 1);
  t.same(statuses.filter((status) => status === 401).length, 19);
  t.equal(await redeem(link), 401, 'later');
});

t.test('a link that was only looked at is not spent', async (t) => {
  const { link, body } = await makeLink(await one.parent());
  const { pathname } = new URL(String(body['url']));
  t.equal(pathname, '/', 'a scanner that opens it does not send the fragment');
  for (const method of ['GET', 'HEAD', 'PUT']) await bare(method, '/redeem');
  t.equal(await redeem(link), 201);
});

t.test('texts that were never a link are refused', async (t) => {
  for (const link of ['', 'x', 'A'.repeat(43), 'A'.repeat(64), `${'A'.repeat(63)}=`, ' '.repeat(64)])
    t.ok([400, 401].includes(await redeem(link)), link);
});

t.test('a link and a session end when the parent ends them', async (t) => {
  const parent = await one.parent();
  const { link, body } = await makeLink(parent);
  t.equal((await parent.call('DELETE', `/portal-sessions/${String(body['id'])}`)).status, 204);
  t.equal(await redeem(link), 401);
  const { call, id } = await openPortal(t, other, parent);
  t.equal(
    (await (await one.parent()).call('DELETE', `/portal-sessions/${id}`)).status,
    404,
    'not by another',
  );
  t.ok(await isOpen(call));
  t.equal((await parent.call('DELETE', `/portal-sessions/${id}`)).status, 204);
  t.notOk(await isOpen(call));
  t.equal((await parent.call('DELETE', `/portal-sessions/${id}`)).status, 404);
});

t.test('they end at the 2xx that ends their key or their account, and do not come back', async (t) => {
  for (const [name, end, undo] of [
    ['revoke', (id: string, key: string) => `/accounts/${id}/api-keys/${key}/revoke`],
    ['suspend', (id: string) => `/accounts/${id}/suspend`, (id: string) => `/accounts/${id}/resume`],
  ] as const) {
    const parent = await one.parent();
    const { link } = await makeLink(parent);
    const { call } = await openPortal(t, other, parent);
    t.equal((await one.operator('POST', end(parent.id, parent.keyId))).status, 200, name);
    t.notOk(await isOpen(call), name);
    t.equal(await redeem(link), 401, name);
    if (undo === undefined) continue;
    await one.operator('POST', undo(parent.id));
    t.notOk(await isOpen(call), 'nor after it is resumed');
    t.equal(await redeem(link), 401);
  }
});

t.test('a session of one sub-account is closed while it is deactivated, and ends with it', async (t) => {
  const parent = await one.parent();
  const sub = await parent.create();
  const { call } = await openPortal(t, other, parent, { sub_account_id: sub.id });
  await sub.act('deactivate');
  t.notOk(await isOpen(call));
  await sub.act('reactivate');
  t.ok(await isOpen(call));
  await sub.act('deactivate');
  t.equal((await makeLink(parent, { sub_account_id: sub.id })).body['code'], 'account_deactivated');
  await parent.call('DELETE', `/${sub.id}`);
  t.notOk(await isOpen(call));
});

t.test('a change that was decided about in time is not made after the end of its session', async (t) => {
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  let arrived = (): void => undefined;
  const waiting = new Promise<void>((resolve) => (arrived = resolve));
  const createKey: typeof store.tenants.createKey = async (...asked) => {
    arrived();
    await gate;
    return store.tenants.createKey(...asked);
  };
  const slow = await startApis(t, { store, portal: {}, deps: { tenants: { ...store.tenants, createKey } } });
  const parent = await one.parent();
  const sub = await parent.create();
  const { call, id } = await openPortal(t, slow, parent, { sub_account_id: sub.id });
  const minting = call('POST', `/sub-accounts/${sub.id}/api-keys`, { body: { name: 'late' } });
  await waiting;
  t.equal((await parent.call('DELETE', `/portal-sessions/${id}`)).status, 204);
  open();
  t.equal((await minting).status, 401, 'the change that came too late');
  t.same((await parent.call('GET', `/${sub.id}/api-keys`)).body['data'], []);
});

t.test('a session lasts as long as configured, and a link five minutes', async (t) => {
  const brief = await startApis(t, { store, portal: { sessionMs: 1 } });
  const parent = await one.parent();
  const { call } = await openPortal(t, brief, parent);
  t.notOk(await isOpen(call));
  const { body, link } = await makeLink(parent);
  const leftMs = Date.parse(String(body['expires_at'])) - Date.now();
  t.ok(leftMs > 240_000 && leftMs < 360_000, `${leftMs} ms`);
  const redeemed = await bare('POST', '/redeem', { body: { link } });
  t.match(redeemed, { status: 201, headers: { 'cache-control': 'no-store' } });
});

t.test('neither the store nor an error has a secret', async (t) => {
  const parent = await one.parent();
  const { link } = await makeLink(parent);
  const spent = await bare('POST', '/redeem', { body: { link: link.toLowerCase() } });
  t.notOk(spent.text.includes(link));
  const { token, call } = await openPortal(t, other, parent);
  t.notOk((await call('GET', '/session')).text.includes(token));
});
