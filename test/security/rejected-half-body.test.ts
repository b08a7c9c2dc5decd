// class: app
import t from 'tap';
import { startApis } from '../support/apis.ts';
import { ManualTime } from '../support/coherence/manual-time.ts';
import { embeddedStore } from '../support/embedded.ts';
import { startProxied } from '../support/gateway.ts';
import { rawClient, requestText, type RawClient } from '../support/raw-client.ts';

const half = '10\r\n{"name": ';
const unknown: readonly (readonly [string, string])[] = [
  ['Authorization', 'Bearer unknown'],
  ['Content-Type', 'application/json'],
];

t.test('a rejected client that stops in its body does not keep the connection', async (t) => {
  const time = new ManualTime();
  const gateway = await startProxied(t, { time });
  const apis = await startApis(t, { store: await embeddedStore(t), time });
  const clients: RawClient[] = [];
  for (const [port, path] of [
    [gateway.port, '/proxied'],
    [gateway.port, '/v1/sub-accounts'],
    [Number(new URL(apis.internalOrigin).port), '/admin/v1/accounts'],
  ] as const) {
    const client = await rawClient(t, port);
    client.send(requestText('POST', path, [...unknown, ['Content-Length', '100']]) + half);
    t.equal((await client.response('POST')).status, 401, path);
    clients.push(client);
  }
  // A client that sends the rest goes on, on the same connection.
  const patient = await gateway.dial(requestText('POST', '/proxied', [['Content-Length', '100']]) + half);
  t.equal((await patient.response('POST')).status, 401);
  patient.send('x'.repeat(100 - half.length) + requestText('GET', '/proxied'));
  t.equal((await patient.response()).status, 401);
  await time.until(Promise.all(clients.map((client) => client.end())));
  t.notOk(patient.closed, 'they ended while idle connections stay');
});
