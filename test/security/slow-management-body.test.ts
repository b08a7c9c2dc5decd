// class: app
import t from 'tap';
import { operatorToken, startApis } from '../support/apis.ts';
import { embeddedStore } from '../support/embedded.ts';
import { rawClient, requestText } from '../support/raw-client.ts';

const bodyIdleMs = 300;
const store = await embeddedStore(t);
const lengths: readonly (readonly [string, string])[] = [
  ['Content-Length', '100'],
  ['Transfer-Encoding', 'chunked'],
];
const half = '10\r\n{"name": ';

t.test('a call whose body stops coming is given up, in both APIs', async (t) => {
  const apis = await startApis(t, { store, limits: { bodyIdleMs } });
  const parent = await apis.parent();
  const calls = [
    [apis.origin, '/v1/sub-accounts', parent.key],
    [apis.internalOrigin, '/admin/v1/accounts', operatorToken],
  ] as const;
  for (const [origin, path, secret] of calls) {
    for (const length of lengths) {
      const client = await rawClient(t, portOf(origin));
      client.send(requestText('POST', path, [...json(secret), length]) + half);
      const response = await client.response('POST');
      t.equal(response.status, 408, `${path} ${length[0]}`);
      t.equal(response.json().code, 'request_timeout');
      t.equal(response.headers['connection'], 'close');
      await client.end();
    }
  }
  t.same((await parent.call('GET', '')).body['data'], [], 'nothing was made of half a body');
});

t.test('one whose body keeps coming is not, even if it takes long', async (t) => {
  const apis = await startApis(t, { store, limits: { bodyIdleMs } });
  const parent = await apis.parent();
  const client = await rawClient(t, portOf(apis.origin));
  const body = JSON.stringify({ name: 'x'.repeat(60) });
  client.send(
    requestText('POST', '/v1/sub-accounts', [...json(parent.key), ['Content-Length', String(body.length)]]),
  );
  let sent = 0;
  const drips = setInterval(() => client.send(body.slice(sent, (sent += 5))), bodyIdleMs / 6);
  t.teardown(() => clearInterval(drips));
  t.equal((await client.response('POST')).status, 201);
});

t.test('a read whose body stops coming gets its response all the same', async (t) => {
  const apis = await startApis(t, { store, limits: { bodyIdleMs } });
  const parent = await apis.parent();
  const client = await rawClient(t, portOf(apis.origin));
  client.send(
    requestText('GET', '/v1/sub-accounts', [...json(parent.key), ['Content-Length', '100']]) + half,
  );
  t.equal((await client.response()).status, 200);
  const another = await rawClient(t, portOf(apis.origin));
  // Time for the silence to be noticed.
  await new Promise((resolve) => setTimeout(resolve, 2 * bodyIdleMs));
  another.send(requestText('GET', '/v1/sub-accounts', json(parent.key)));
  t.equal((await another.response()).status, 200);
});

function json(secret: string): readonly (readonly [string, string])[] {
  return [
    ['Authorization', `Bearer ${secret}`],
    ['Content-Type', 'application/json'],
  ];
}

function portOf(origin: string): number {
  return Number(new URL(origin).port);
}
