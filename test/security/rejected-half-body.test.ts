// class: app
import t from 'tap';
import { startApis } from '../support/apis.ts';
import { embeddedStore } from '../support/embedded.ts';
import { startGateway } from '../support/gateway.ts';
import { rawClient, requestText, type RawClient } from '../support/raw-client.ts';
import { startUpstream } from '../support/upstreams.ts';

const half = '10\r\n{"name": ';
const unknown: readonly (readonly [string, string])[] = [
  ['Authorization', 'Bearer unknown'],
  ['Content-Type', 'application/json'],
];

t.test('a rejected client that stops in its body does not keep the connection', async (t) => {
  const upstream = await startUpstream(t);
  const gateway = await startGateway(t, { routes: { '/': upstream.url } });
  const apis = await startApis(t, { store: await embeddedStore(t) });
  const places = [
    [gateway.port, '/proxied'],
    [gateway.port, '/v1/sub-accounts'],
    [Number(new URL(apis.internalOrigin).port), '/admin/v1/accounts'],
  ] as const;
  const clients = await Promise.all(
    places.map(async ([port, path]): Promise<RawClient> => {
      const client = await rawClient(t, port);
      client.send(requestText('POST', path, [...unknown, ['Content-Length', '100']]) + half);
      t.equal((await client.response('POST')).status, 401, path);
      return client;
    }),
  );
  // A client that sends the rest goes on, on the same connection.
  const patient = await rawClient(t, gateway.port);
  patient.send(requestText('POST', '/proxied', [['Content-Length', '100']]) + half);
  t.equal((await patient.response('POST')).status, 401);
  patient.send('x'.repeat(100 - half.length) + requestText('GET', '/proxied'));
  t.equal((await patient.response()).status, 401);
  await Promise.all(clients.map((client) => client.end()));
  t.notOk(patient.closed, 'they ended while idle connections stay');
});
