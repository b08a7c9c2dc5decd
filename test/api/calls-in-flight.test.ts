// class: app
import t from 'tap';
import { startApis } from '../support/apis.ts';
import { DirectDirectory } from '../support/direct-directory.ts';
import { embeddedStore } from '../support/embedded.ts';
import { ManualTime } from '../support/coherence/manual-time.ts';
import { eventually } from '../support/eventually.ts';
import { openPortal } from '../support/portal.ts';
import { rawClient, requestText, type RawClient } from '../support/raw-client.ts';

const time = new ManualTime();
const store = await embeddedStore(t);
/** While this is pending, no fact can be read. */
let away = Promise.resolve();
let lookUps = 0;
const apis = await startApis(t, {
  store,
  portal: {},
  deps: {
    directory: {
      lookUp: () => {
        const lookup = new DirectDirectory(store.facts).lookUp();
        return { ...lookup, load: () => ((lookUps += 1), away.then(() => lookup.load())) };
      },
    },
  },
  limits: { maxConnections: 64 * 8, bodyIdleMs: 30_000, minBodyBytesPerMinute: 6_000 },
  time,
});

t.test('calls of one key leave places for other keys, and none is needed to revoke', async (t) => {
  const [parent, other] = [await apis.parent(), await apis.parent()];
  const child = await parent.create();
  const minted = await parent.call('POST', `/${child.id}/api-keys`, { body: { name: 'key' } });
  const clients: RawClient[] = [];
  // Of 64 places, a key that is alone has a half. The others are refused.
  for (let i = 0; i < 40; i++) clients.push(await half(parent.key, '/v1/sub-accounts'));
  await eventually(async () => (await parent.call('GET', '')).status === 429);
  const refused = await parent.call('GET', '');
  t.match(refused, { status: 429, body: { code: 'too_many_requests' } });
  t.equal((await other.call('GET', '')).status, 200, 'another parent');
  const { body } = await apis.operator('POST', `/accounts/${parent.id}/api-keys`, {
    body: { name: 'second', scopes: ['sub_accounts:read'] },
  });
  t.equal((await parent.call('GET', '', { key: String(body['api_key']) })).status, 200, 'another key');
  const revoke = `/${child.id}/api-keys/${String(minted.body['id'])}/revoke`;
  t.equal((await parent.call('POST', revoke)).status, 200, 'a revoke takes no place');
  for (const { socket } of clients) socket.destroy();
  await eventually(async () => (await parent.call('GET', '')).status === 200);
});

t.test('in the portal calls for one sub-account leave places for others, and for programs', async (t) => {
  const parent = await apis.parent();
  const { id } = await parent.create();
  const mine = await openPortal(t, apis, parent, { sub_account_id: id });
  const other = await openPortal(t, apis, parent);
  const path = `/api/sub-accounts/${id}/api-keys`;
  const clients: RawClient[] = [];
  for (let i = 0; i < 40; i++) clients.push(await half(mine.token, path, apis.portalOrigin ?? ''));
  await eventually(async () => (await mine.call('GET', '/session')).status === 429);
  t.match(await mine.call('GET', '/session'), { body: { code: 'too_many_requests' } });
  t.equal((await other.call('GET', '/session')).status, 200);
  t.equal((await parent.call('GET', '')).status, 200);
  t.equal((await mine.call('DELETE', '/session')).status, 204, 'its end takes no place');
  for (const { socket } of clients) socket.destroy();
});

t.test('a body of a call that trickles is given up after a minute', async (t) => {
  const parent = await apis.parent();
  const client = await half(parent.key, '/v1/sub-accounts');
  for (let i = 0; i < 6 && client.text === ''; i++) {
    const read = apis.bytesRead();
    client.send('x'.repeat(1_000));
    await eventually(() => apis.bytesRead() > read || client.text !== '');
    await time.advance(20_000);
  }
  t.match(await client.response('POST'), { status: 408, code: 'request_timeout' });
});

t.test('who leaves during a look-up leaves no place taken', async (t) => {
  const parent = await apis.parent();
  let back = (): void => undefined;
  away = new Promise((resolve) => (back = resolve));
  const before = lookUps;
  const clients: RawClient[] = [];
  for (let i = 0; i < 40; i++) clients.push(await half(parent.key, '/v1/sub-accounts'));
  await eventually(() => lookUps === before + 40);
  for (const { socket } of clients) socket.destroy();
  for (let i = 0; i < 10; i++) await apis.call('GET', '/v1/sub-accounts/openapi.json');
  back();
  t.equal((await parent.call('GET', '')).status, 200);
});

/** A client that has sent half of a call. */
async function half(key: string, path: string, origin = apis.origin): Promise<RawClient> {
  const headers = [
    ['Authorization', `Bearer ${key}`],
    ['Content-Type', 'application/json'],
    ['Content-Length', '100000'],
  ] as const;
  const client = await rawClient(t, Number(new URL(origin).port));
  return client.send(`${requestText('POST', path, headers)}{"name":"`);
}
