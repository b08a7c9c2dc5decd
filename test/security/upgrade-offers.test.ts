// class: app
import t from 'tap';
import { certificate } from '../support/config-certificates.ts';
import { eventually, startProxied } from '../support/gateway.ts';
import { rawClient, requestText, tlsClient } from '../support/raw-client.ts';

/** As `curl --http2` and Java's HttpClient send it on plain http. */
const offer: readonly (readonly [string, string])[] = [
  ['Connection', 'Upgrade, HTTP2-Settings'],
  ['Upgrade', 'h2c'],
  ['HTTP2-Settings', 'AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA'],
];

/** What a reader that takes the body of an offer for the next request would carry out. */
const body = 'DELETE /smuggled HTTP/1.1\r\nHost: gateway.test\r\nAuthorization: KEY\r\n\r\n';

const framings = {
  length: [['Content-Length', String(body.length)], body],
  chunks: [
    ['Transfer-Encoding', 'chunked'],
    `${body.length.toString(16)};x=1\r\n${body}\r\n0\r\nX-Service-Resolved-Tenant: forged\r\n\r\n`,
  ],
} as const;

for (const [name, [framing, bytes]] of Object.entries(framings)) {
  t.test(`the body behind an offer is a body, wherever packets are cut: ${name}`, async (t) => {
    const { upstream, dial, requestOf, bytesRead } = await startProxied(t);
    const head = requestOf('POST', '/first', [...offer, framing]);
    const text = head + bytes + requestOf('GET', '/second');
    for (const cut of [1, 80, ...[-1, 0, 1, 20].map((more) => head.length + more), text.length - 1]) {
      upstream.received.length = 0;
      const read = bytesRead() + cut;
      const client = await dial(text.slice(0, cut));
      await eventually(() => bytesRead() === read, 'the first packet');
      client.send(text.slice(cut));
      for (const method of ['POST', 'GET'])
        t.equal((await client.response(method)).status, 200, `cut at ${cut}`);
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

for (const tls of [undefined, certificate.a])
  t.test(`an offer goes no further than the gateway, in any spelling${tls ? ', by TLS' : ''}`, async (t) => {
    const { upstream, port, requestOf } = await startProxied(t, tls && { tls });
    const client = await (tls ? tlsClient(t, port, tls.cert) : rawClient(t, port));
    for (const [connection, upgrade] of [
      ['Upgrade, HTTP2-Settings', 'h2c'],
      ['keep-alive, UPGRADE, http2-settings', 'H2C, irc/6.9'],
      ['upgrade', 'TLS/1.0'],
      ['upgrade', ''],
      ['upgrade, close', 'xwebsocket'],
    ] as const) {
      const headers = [['Connection', connection], ['Upgrade', upgrade], ...offer.slice(2)] as const;
      client.send(requestOf('POST', '/', headers, 'body'));
      t.equal((await client.response('POST')).status, 200, upgrade);
      const received = upstream.received.at(-1);
      t.equal(received?.body.toString(), 'body');
      t.notMatch(received?.rawHeaders.join('\n'), /upgrade|http2|h2c/i);
    }
    await client.end();
  });

t.test('an offer is decided about like any request', async (t) => {
  const { upstream, dial, requestOf } = await startProxied(t);
  for (const [name, text, status] of [
    ['no key', requestText('POST', '/', offer, 'body'), 401],
    ['a path with two readings', requestOf('GET', '/v1/%2e/sub-accounts', offer), 400],
    ['a method override', requestOf('GET', '/', [...offer, ['X-HTTP-Method', 'PUT']]), 400],
    ['an unknown expectation', requestOf('GET', '/', [...offer, ['Expect', 'x']]), 417],
    ['CONNECT', requestOf('CONNECT', 'upstream.test:80', offer), 400],
  ] as const) {
    const client = await dial(text);
    t.equal((await client.response('POST')).status, status, name);
    client.socket.destroy();
  }
  t.equal(upstream.heads, 0);
});

t.test('a client that waits for `100 Continue` is told to go on', async (t) => {
  const { dial, requestOf } = await startProxied(t);
  const expect = [
    ['Expect', '100-continue'],
    ['Content-Length', '4'],
  ] as const;
  const client = await dial(requestOf('POST', '/', [...offer, ...expect]));
  await client.until(() => client.text === 'HTTP/1.1 100 Continue\r\n\r\n');
  t.equal((await client.send('body').response('POST')).status, 200);
});

t.test('an offer of HTTP/1.0 is not read, not even of a WebSocket', async (t) => {
  const { parent, dial } = await startProxied(t);
  const client = await dial(
    `GET / HTTP/1.0\r\nAuthorization: Bearer ${parent.key}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  );
  t.equal((await client.response()).status, 200);
});
