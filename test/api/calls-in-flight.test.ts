// class: app
import t from 'tap';
import { startApis } from '../support/apis.ts';
import { embeddedStore } from '../support/embedded.ts';
import { ManualTime } from '../support/coherence/manual-time.ts';
import { eventually } from '../support/eventually.ts';
import { rawClient, requestText, type RawClient } from '../support/raw-client.ts';

const time = new ManualTime();
const apis = await startApis(t, {
  store: await embeddedStore(t),
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

/** A client that has sent half of a call. */
async function half(key: string, path: string): Promise<RawClient> {
  const headers = [
    ['Authorization', `Bearer ${key}`],
    ['Content-Type', 'application/json'],
    ['Content-Length', '100000'],
  ] as const;
  const client = await rawClient(t, Number(new URL(apis.origin).port));
  return client.send(`${requestText('POST', path, headers)}{"name":"`);
}
