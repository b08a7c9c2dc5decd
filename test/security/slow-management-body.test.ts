// class: app
import t from 'tap';
import { operatorToken, startApis } from '../support/apis.ts';
import { ManualTime } from '../support/coherence/manual-time.ts';
import { embeddedStore } from '../support/embedded.ts';
import { eventually } from '../support/eventually.ts';
import { rawClient, requestText } from '../support/raw-client.ts';

const bodyIdleMs = 300;
const half = '10\r\n{"name": ';
const time = new ManualTime();
const apis = await startApis(t, { store: await embeddedStore(t), limits: { bodyIdleMs }, time });
const parent = await apis.parent();

t.test('a call whose body stops coming is given up, in both APIs', async (t) => {
  for (const [origin, path, secret] of [
    [apis.origin, '/v1/sub-accounts', parent.key],
    [apis.internalOrigin, '/admin/v1/accounts', operatorToken],
  ] as const)
    for (const length of [
      ['Content-Length', '100'],
      ['Transfer-Encoding', 'chunked'],
    ] as const) {
      const client = await sent(origin, requestText('POST', path, [...json(secret), length]) + half);
      const response = await time.until(client.response('POST'), 100 * bodyIdleMs);
      t.match(response, { status: 408, code: 'request_timeout', headers: { connection: 'close' } }, path);
      await client.end();
    }
  t.same((await parent.call('GET', '')).body['data'], [], 'nothing was made of half a body');
});

t.test('one whose body keeps coming is not, even if it takes long', async (t) => {
  const body = JSON.stringify({ name: 'x'.repeat(60) });
  const length = ['Content-Length', String(body.length)] as const;
  const client = await sent(
    apis.origin,
    requestText('POST', '/v1/sub-accounts', [...json(parent.key), length]),
  );
  for (let at = 0; at < body.length; at += 5) {
    await time.advance(bodyIdleMs / 2);
    await send(client, body.slice(at, at + 5));
  }
  t.equal((await client.response('POST')).status, 201);
});

t.test('a read whose body stops coming gets its response all the same', async (t) => {
  const length = ['Content-Length', '100'] as const;
  const client = await sent(
    apis.origin,
    requestText('GET', '/v1/sub-accounts', [...json(parent.key), length]) + half,
  );
  t.equal((await client.response()).status, 200);
  // The silence is noticed meanwhile.
  await time.advance(2 * bodyIdleMs);
  t.equal((await parent.call('GET', '')).status, 200);
});

function json(secret: string): readonly (readonly [string, string])[] {
  return [
    ['Authorization', `Bearer ${secret}`],
    ['Content-Type', 'application/json'],
  ];
}

/** A client of which the listener has read this. */
async function sent(origin: string, text: string) {
  return send(await rawClient(t, Number(new URL(origin).port)), text);
}

async function send(client: Awaited<ReturnType<typeof rawClient>>, text: string) {
  const read = apis.bytesRead() + text.length;
  client.send(text);
  await eventually(() => apis.bytesRead() >= read);
  return client;
}
