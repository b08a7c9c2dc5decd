// class: app
import t from 'tap';
import { certificate } from '../support/config-certificates.ts';
import { eventually, startGateway } from '../support/gateway.ts';
import { rawClient, requestText, tlsClient, type RawClient } from '../support/raw-client.ts';
import { startRawUpstream, startUpstream } from '../support/upstreams.ts';

/** As `curl --http2` and Java's HttpClient send it on plain http. */
const offer: readonly (readonly [string, string])[] = [
  ['Connection', 'Upgrade, HTTP2-Settings'],
  ['Upgrade', 'h2c'],
  ['HTTP2-Settings', 'AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA'],
];

/** What a reader that takes the body of an offer for the next request would carry out. */
const inner = 'DELETE /smuggled HTTP/1.1\r\nHost: gateway.test\r\nAuthorization: KEY\r\n\r\n';

/** Bodies in both framings; each holds `inner` whole. */
const bodies = {
  length: (key: string) => {
    const body = inner.replace('KEY', key);
    return { headers: [['Content-Length', String(body.length)]] as const, bytes: body, body };
  },
  chunks: (key: string) => {
    const body = inner.replace('KEY', key);
    const size = body.length.toString(16);
    const bytes = `${size};x=1\r\n${body}\r\n0\r\nX-Service-Resolved-Tenant: forged\r\n\r\n`;
    return { headers: [['Transfer-Encoding', 'chunked']] as const, bytes, body };
  },
};

for (const [framing, bodyFor] of Object.entries(bodies)) {
  t.test(`the body behind an offer is a body, wherever packets are cut: ${framing}`, async (t) => {
    const upstream = await startUpstream(t);
    const { port, parent } = await startGateway(t, { routes: { '/': upstream.url } });
    const authorization: [string, string] = ['Authorization', `Bearer ${parent.key}`];
    const { headers, bytes, body } = bodyFor(`Bearer ${parent.key}`);
    const head = requestText('POST', '/first', [authorization, ...offer, ...headers]);
    const text = head + bytes + requestText('GET', '/second', [authorization]);
    const cuts = [
      head.length - 1,
      head.length,
      head.length + 1,
      head.length + 20,
      text.length - 1,
      text.length,
    ];
    for (const cut of [1, 80, ...cuts]) {
      upstream.received.length = 0;
      const client = await rawClient(t, port);
      client.send(text.slice(0, cut));
      if (cut < text.length) await pause();
      client.send(text.slice(cut));
      t.equal((await client.response('POST')).status, 200, `cut at ${cut}`);
      t.equal((await client.response()).status, 200, `cut at ${cut}`);
      t.same(
        upstream.received.map(({ method, target, body }) => [method, target, body.toString()]),
        [
          ['POST', '/first', body],
          ['GET', '/second', ''],
        ],
      );
      t.notOk(upstream.received[0]?.rawHeaders.includes('forged'));
      client.socket.destroy();
    }
  });
}

t.test('an offer goes no further than the gateway, in any spelling', async (t) => {
  const upstream = await startUpstream(t);
  const { port, parent } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await rawClient(t, port);
  for (const [connection, upgrade] of [
    ['Upgrade, HTTP2-Settings', 'h2c'],
    ['keep-alive, UPGRADE, http2-settings', 'H2C, irc/6.9'],
    ['upgrade', 'TLS/1.0'],
    ['upgrade', ''],
    ['upgrade, close', 'xwebsocket'],
  ] as const) {
    client.send(
      requestText('POST', '/', [
        ['Authorization', `Bearer ${parent.key}`],
        ['Connection', connection],
        ['Upgrade', upgrade],
        ['HTTP2-Settings', 'AAMAAABkAAQCAAAAAAIAAAAA'],
        ['Content-Length', '4'],
      ]) + 'body',
    );
    const response = await client.response('POST');
    t.equal(response.status, 200, upgrade);
    const received = upstream.received.at(-1);
    t.equal(received?.body.toString(), 'body');
    t.notMatch(received?.rawHeaders.join('\n'), /upgrade|http2|h2c/i);
    t.same([received?.values('upgrade'), received?.values('http2-settings')], [[], []]);
  }
  await client.end();
});

t.test('over TLS an offer is ignored as well', async (t) => {
  const upstream = await startUpstream(t);
  const { port, parent } = await startGateway(t, { routes: { '/': upstream.url }, tls: certificate.a });
  const client = await tlsClient(t, port, certificate.a.cert);
  for (let i = 0; i < 30; i += 1) {
    client.send(requestText('POST', `/${i}`, [['Authorization', `Bearer ${parent.key}`], ...offer], 'body'));
    t.equal((await client.response('POST')).status, 200);
    t.equal(upstream.received[i]?.body.toString(), 'body');
  }
});

t.test('an offer is decided about like any request', async (t) => {
  const upstream = await startUpstream(t);
  const { port, parent } = await startGateway(t, { routes: { '/': upstream.url } });
  const authorization: [string, string] = ['Authorization', `Bearer ${parent.key}`];
  for (const [name, text, status] of [
    ['no key', requestText('POST', '/', offer, 'body'), 401],
    ['a path with two readings', requestText('GET', '/v1/%2e/sub-accounts', [authorization, ...offer]), 400],
    ['a method override', requestText('GET', '/', [authorization, ...offer, ['X-HTTP-Method', 'PUT']]), 400],
    ['an unknown expectation', requestText('GET', '/', [authorization, ...offer, ['Expect', 'x']]), 417],
    ['CONNECT', requestText('CONNECT', 'upstream.test:80', [authorization, ...offer]), 400],
  ] as const) {
    const client = await rawClient(t, port);
    client.send(text);
    t.equal((await client.response('POST')).status, status, name);
    client.socket.destroy();
  }
  t.equal(upstream.heads, 0);
});

t.test('a client that waits for `100 Continue` is told to go on', async (t) => {
  const upstream = await startUpstream(t);
  const { port, parent } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await rawClient(t, port);
  const headers = [['Authorization', `Bearer ${parent.key}`], ...offer, ['Expect', '100-continue']] as const;
  client.send(requestText('POST', '/', [...headers, ['Content-Length', '4']]));
  await client.until(() => client.text === 'HTTP/1.1 100 Continue\r\n\r\n');
  client.send('body');
  t.equal((await client.response('POST')).status, 200);
  t.equal(upstream.received[0]?.body.toString(), 'body');
});

t.test('an offer of HTTP/1.0 is not read, not even of a WebSocket', async (t) => {
  const upstream = await startUpstream(t);
  const { port, parent } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await rawClient(t, port);
  client.send(
    `GET / HTTP/1.0\r\nAuthorization: Bearer ${parent.key}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  );
  t.equal((await client.response()).status, 200);
});

t.test('an offer behind other requests waits for their responses, and they come out whole', async (t) => {
  const large = 'x'.repeat(8 * 1024 * 1024);
  const order: string[] = [];
  const upstream = await startRawUpstream(t, () => (request, response) => {
    order.push(`${request.method} ${request.url}`);
    request.resume();
    setTimeout(() => response.end(request.url === '/large' ? large : 'small'), 20);
  });
  const { port, parent } = await startGateway(t, { routes: { '/': upstream.url } });
  const authorization: [string, string] = ['Authorization', `Bearer ${parent.key}`];
  const client = await rawClient(t, port);
  client.socket.pause();
  client.send(
    // More than Node reads of a body before it is asked for.
    requestText('PUT', '/small', [authorization], 'x'.repeat(60_000)) +
      requestText('GET', '/large', [authorization]) +
      requestText('POST', '/offer', [authorization, ...offer], 'x'.repeat(100_000)) +
      requestText('POST', '/last', [authorization], 'three'),
  );
  await eventually(() => order.length === 2, 'the second request');
  await pause();
  client.socket.resume();
  await lengths(client, ['PUT', 'GET', 'POST', 'POST'], [5, large.length, 5, 5]);
  t.same(order, ['PUT /small', 'GET /large', 'POST /offer', 'POST /last']);

  async function lengths(client: RawClient, methods: string[], expected: number[]): Promise<void> {
    for (const [i, method] of methods.entries()) {
      t.equal((await client.response(method)).body.length, expected[i], `${method} ${i}`);
    }
  }
});

/** Time for the gateway to read what was sent. There is nothing of it to wait for. */
async function pause(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 15));
}
