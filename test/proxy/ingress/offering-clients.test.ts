// class: real
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { WebSocketServer } from 'ws';
import { curl, java, noCurl, noJava } from '../../support/foreign-clients.ts';
import { startGateway, startProxied } from '../../support/gateway.ts';
import { startUpstream } from '../../support/upstreams.ts';

t.test('curl --http2 is served over HTTP/1.1, bodies included', { skip: noCurl }, async (t) => {
  const { upstream, port, parent } = await startProxied(t);
  const origin = `http://127.0.0.1:${port}`;
  const authorization = ['--http2', '--header', `Authorization: Bearer ${parent.key}`];
  for (const [options, method, body] of [
    [[], 'GET', ''],
    [['--data', 'short'], 'POST', 'short'],
    [['--data', 'x'.repeat(100_000)], 'POST', 'x'.repeat(100_000)],
    [['--data', 'chunks', '--header', 'Transfer-Encoding: chunked'], 'POST', 'chunks'],
    [['--data', 'asked', '--header', 'Expect: 100-continue'], 'POST', 'asked'],
    [['--request', 'DELETE'], 'DELETE', ''],
  ] as const) {
    const { output, code } = await curl(
      ...authorization,
      ...options,
      '-w',
      ' %{http_code} %{http_version}',
      origin,
    );
    t.equal(code, 0);
    t.match(output, / 200 1\.1$/, method);
    const received = upstream.received.at(-1);
    t.equal(received?.method, method);
    t.equal(received?.body.toString(), body);
    t.notMatch(received?.rawHeaders.join('\n'), /upgrade|http2|h2c/i);
  }
  // The same connection is used for all three.
  const several = [`${origin}/a`, `${origin}/b`, `${origin}/c`];
  const { output } = await curl(
    ...authorization,
    '-o',
    '/dev/null',
    '-o',
    '/dev/null',
    '-o',
    '/dev/null',
    '-w',
    '%{http_code},%{num_connects} ',
    ...several,
  );
  t.equal(output, '200,1 200,0 200,0 ');
  t.match((await curl(...authorization, '--data', '{', `${origin}/v1/sub-accounts`)).output, /parent|scope/);
});

t.test('Java’s HttpClient is served, large uploads and WebSockets too', { skip: noJava }, async (t) => {
  const upstream = await startUpstream(t, ({ method, body }, response) =>
    response.end(`${method} ${body.length}`),
  );
  const echo = createServer();
  const sockets = new WebSocketServer({ server: echo });
  sockets.on('connection', (socket) => socket.on('message', (data) => socket.send(data, { binary: false })));
  await once(echo.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => {
    echo.close();
    echo.closeAllConnections();
  });
  const ws = `http://127.0.0.1:${(echo.address() as AddressInfo).port}`;
  const guarded = { upstream: upstream.url, scopes: { read: null, write: 'billing:write' } };
  const { port, parent } = await startGateway(t, {
    routes: { '/': upstream.url, '/guarded': guarded, '/ws': ws },
  });
  const lines = await java(
    `http://127.0.0.1:${port}`,
    parent.key,
    ...[
      'GET:/',
      'POST:/:body',
      'PUT:/:*3000000',
      'DELETE:/',
      `PATCH:/:${'x'.repeat(100_000)}`,
      'POST:/:again',
    ],
    'POST:/guarded:*4000000',
    'POST:/v1/sub-accounts:{"name":"a"}',
    'POST:/v1/sub-accounts:*4000000',
    'ws:/ws',
  );
  t.strictSame(lines.slice(0, 6), [
    '200 HTTP_1_1 GET 0',
    '200 HTTP_1_1 POST 4',
    '200 HTTP_1_1 PUT 3000000',
    '200 HTTP_1_1 DELETE 0',
    '200 HTTP_1_1 PATCH 100000',
    '200 HTTP_1_1 POST 5',
  ]);
  t.match(lines[6], /^403 HTTP_1_1 .*insufficient_scope/, 'the rejection of a large upload');
  t.match(lines[7], /^403 HTTP_1_1 .*insufficient_scope/, 'management, which asks for a scope');
  t.match(lines[8], /^403 HTTP_1_1 .*insufficient_scope/, 'the rejection of a large upload to management');
  t.equal(lines[9], 'ws hello');
  for (const { rawHeaders } of upstream.received) t.notMatch(rawHeaders.join('\n'), /upgrade|http2|h2c/i);
});
