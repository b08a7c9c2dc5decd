// class: app
import t from 'tap';
import { authorizationOf } from '../support/credential-forms.ts';
import { eventually, startGateway, startProxied } from '../support/gateway.ts';
import { startTcpUpstream } from '../support/upstreams.ts';

t.test('trailers of a request do not reach the upstream: none of them can be a trusted header', async (t) => {
  const { upstream, parent, dial } = await startProxied(t);
  const client = await dial(
    `POST / HTTP/1.1\r\nHost: gateway.test\r\nAuthorization: ${authorizationOf(parent.key)}\r\n` +
      'Trailer: X-Service-Resolved-Tenant\r\nTransfer-Encoding: chunked\r\n\r\n' +
      '4\r\nbody\r\n0\r\nX-Service-Resolved-Tenant: forged\r\nX_Service_Caller_Key: forged\r\nX-Other: forged\r\n\r\n',
  );
  t.equal((await client.response('POST')).status, 200);
  t.equal(upstream.received[0]?.body.toString(), 'body');
  t.notOk(upstream.received[0]?.rawHeaders.includes('forged'));
});

/** What the gateway says itself, or may: a client that adds trailers to the headers would take these for its word. */
const own = [
  ...['RateLimit', 'RateLimit-Policy', 'X-RateLimit-Limit', 'ratelimit_policy', 'Retry-After', 'Vary'],
  ...['WWW-Authenticate', 'Access-Control-Allow-Origin', 'Access-Control-Expose-Headers', 'Location', 'Date'],
  ...['Cache-Control', 'CDN-Cache-Control', 'Surrogate-Control', 'X-Accel-Expires', 'Age', 'Expires'],
  // undici fails a response with this one.
  ...(process.env['TEST_UPSTREAM_CLIENT'] === 'undici' ? [] : ['Content-Length']),
  ...['Content-Encoding', 'Content-Range', 'Content-Location', 'X-Service-Enforced'],
];

t.test('trailers of a response are cleaned like its headers', async (t) => {
  const upstream = await startTcpUpstream(t, (socket) => {
    socket.write(
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n' +
        'X-Service-Resolved-Tenant: forged\r\nx.request.id: forged\r\nConnection: forged\r\n' +
        'Set-Cookie: forged=1\r\nContent-Type: forged/forged\r\n' +
        own.map((name) => `${name}: forged\r\n`).join('') +
        'Content-Digest: sha-256=:abc:\r\nServer-Timing: a\r\ngrpc-status: 0\r\nX-Checksum: abc\r\n\r\n',
    );
  });
  const { parent, dial } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await dial(
    `GET / HTTP/1.1\r\nHost: gateway.test\r\nAuthorization: ${authorizationOf(parent.key)}\r\n\r\n`,
  );
  t.equal((await client.response()).body, 'body');
  await eventually(() => client.text.includes('X-Checksum: abc\r\n\r\n'), 'the trailers');
  t.notMatch(client.text, /forged/);
  t.match(
    client.text,
    /Content-Digest: .*\r\nServer-Timing: a\r\ngrpc-status: 0\r\n/,
    'what may be one passes',
  );
});
