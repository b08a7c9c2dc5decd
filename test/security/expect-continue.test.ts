// class: app
import t from 'tap';
import { eventually, startGateway, startProxied } from '../support/gateway.ts';

const head = (target: string, key: string | null, expect = '100-continue'): string =>
  `POST ${target} HTTP/1.1\r\nHost: gateway.test\r\nExpect: ${expect}\r\nContent-Length: 4\r\n` +
  `${key === null ? '' : `Authorization: Bearer ${key}\r\n`}\r\n`;

t.test('a client that waits is told to go on only once its request was admitted', async (t) => {
  const { upstream, parent, directory, dial } = await startProxied(t);
  directory.late.add(parent.keyKey);
  const client = await dial(head('/', parent.key));
  await eventually(() => directory.waiting === 1, 'the decision');
  t.equal(client.text, '');
  directory.deliver();
  await client.until(() => client.text === 'HTTP/1.1 100 Continue\r\n\r\n');
  client.send('body');
  t.equal((await client.response('POST')).status, 200);
  t.equal(upstream.received[0]?.body.toString(), 'body');
  t.strictSame(upstream.received[0]?.values('expect'), []);

  // The connection is as good as before.
  client.send(head('/again', parent.key));
  await client.until(() => client.text.endsWith('HTTP/1.1 100 Continue\r\n\r\n'));
  client.send('more');
  t.equal((await client.response('POST')).status, 200);
});

t.test('one that is rejected is told so at once, and its connection ends', async (t) => {
  const { upstream, parent, dial } = await startProxied(t);
  for (const [text, status] of [
    [head('/', null), 401],
    [head('/v1/%2e/sub-accounts', parent.key), 400],
    [head('/', parent.key, 'a-miracle'), 417],
  ] as const) {
    const client = await dial(text);
    const response = await client.response('POST');
    t.equal(response.status, status);
    t.equal(response.headers['content-type'], 'application/problem+json');
    t.equal(response.headers['connection'], 'close');
    t.notMatch(client.text, /100 Continue/);
    await client.end();
  }
  t.equal(upstream.heads, 0);
});

t.test('management tells a waiting client to go on, too', async (t) => {
  const { directory, dial } = await startGateway(t, { routes: {} });
  const manager = directory.addParent(['sub_accounts:write']);
  const client = await dial(
    head('/v1/sub-accounts', manager.key).replace('Expect', 'Content-Type: application/json\r\nExpect'),
  );
  await client.until(() => client.text === 'HTTP/1.1 100 Continue\r\n\r\n');
  client.send('{  }');
  // The body arrived, and lacks a name.
  t.equal((await client.response('POST')).json().code, 'invalid_request');
});
