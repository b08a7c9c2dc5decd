// class: app
import t from 'tap';
import { authorizationOf } from '../support/credential-forms.ts';
import { eventually, startGateway, startProxied } from '../support/gateway.ts';
import { requestText } from '../support/raw-client.ts';
import { startRawUpstream, startTcpUpstream } from '../support/upstreams.ts';
import { handshake, openWebSocket, startWebSocketUpstream } from '../support/websockets.ts';

t.test('a WebSocket gets the headers of a plain request: none forged, all of the gateway’s', async (t) => {
  const upstream = await startWebSocketUpstream(t);
  const { port, parent, directory } = await startGateway(t, { routes: { '/': upstream.url } });
  const child = directory.addSubAccount(parent, 'child');
  directory.rename(parent, 'acme');
  const client = await openWebSocket(t, port, '/events?since=%2F1', {
    authorization: authorizationOf(parent.key),
    'x-service-acting-tenant': 'ext:child',
    'x-service-resolved-tenant': 'forged',
    'x-service-parent-external-id': 'forged',
    x_service_caller_key: 'forged',
    'x-forwarded-for': 'forged',
    'x-request-id': 'forged',
    'proxy-authorization': 'forged',
    cookie: 'a=1',
  });
  client.socket.send('hello');
  await eventually(() => client.messages.includes('hello'), 'the echo');
  const [handshake] = upstream.handshakes;
  t.equal(handshake?.url, '/events?since=%2F1');
  t.notOk(handshake?.rawHeaders.includes('forged'));
  t.match(handshake?.headers, {
    'x-service-resolved-tenant': child.id,
    'x-service-resolved-external-id': 'child',
    'x-service-parent-tenant': parent.id,
    'x-service-parent-external-id': 'acme',
    'x-service-caller-tenant': parent.id,
    'x-service-caller-key': parent.keyId,
    'x-forwarded-for': '127.0.0.1',
    'x-request-id': /^[0-9a-f]{32}$/,
    cookie: 'a=1',
  });
  t.notOk(handshake?.headers.authorization);
});

t.test('a WebSocket is rejected as a plain request would be', async (t) => {
  const upstream = await startWebSocketUpstream(t);
  const { port, parent, directory, call } = await startGateway(t, {
    routes: { '/': { upstream: upstream.url, scopes: { read: 'tracking:read', write: null } } },
  });
  const other = directory.addParent([]);
  const key = (holder: { key: string }) => ({ authorization: authorizationOf(holder.key) });
  await t.rejects(openWebSocket(t, port, '/', {}), { message: 'status 401' });
  await t.rejects(openWebSocket(t, port, '/', key(other)), { message: 'status 403' });
  await t.rejects(openWebSocket(t, port, '/', { ...key(parent), 'x-service-acting-tenant': 'ext:nobody' }), {
    message: 'status 403',
  });
  t.equal(upstream.handshakes.length, 0);
  t.equal((await call('GET', '/')).status, 426, 'a plain request still gets there');
});

t.test('handshakes that are none are rejected', async (t) => {
  const { upstream, parent, dial, requestOf } = await startProxied(t);
  const good = Object.fromEntries(handshake(parent.key));
  for (const [name, change] of [
    ['key', { 'Sec-WebSocket-Key': 'short' }],
    ['body', { 'Content-Length': '5' }],
    ['body in chunks', { 'Transfer-Encoding': 'chunked' }],
    ['two lengths', { 'Content-Length': '0', 'content-length': '0' }],
    ['override', { 'X-HTTP-Method-Override': 'DELETE' }],
  ] as const) {
    const headers = Object.entries({ ...good, ...change });
    const client = await dial(requestText('GET', '/', headers) + requestOf('GET', '/smuggled'));
    const response = await client.response();
    t.match(response, { status: 400, headers: { 'content-type': 'application/problem+json' } }, name);
    await client.end();
    t.equal(client.text.split('HTTP/1.1 ').length, 2, 'one response');
  }
  const post = await dial(requestText('POST', '/', Object.entries(good)));
  t.equal((await post.response('POST')).status, 400);
  t.equal(upstream.heads, 0);
});

t.test('a client that resets its connection while its upgrade is decided does no harm', async (t) => {
  const upstream = await startWebSocketUpstream(t);
  const { port, parent, directory, dial } = await startGateway(t, { routes: { '/': upstream.url } });
  directory.late.add(parent.keyKey);
  for (let i = 0; i < 5; i++) {
    const client = await dial(requestText('GET', '/', handshake(parent.key)));
    await eventually(() => directory.waiting === i + 1, 'the decision');
    client.socket.resetAndDestroy();
    await client.end();
  }
  directory.deliver();
  const fine = await openWebSocket(t, port, '/', { authorization: authorizationOf(parent.key) });
  await eventually(() => upstream.handshakes.length === 1, 'the handshake');
  fine.socket.terminate();
});

t.test('bytes behind the handshake go nowhere unless the upstream consents', async (t) => {
  const upstream = await startTcpUpstream(t, (socket) => {
    socket.write('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno');
  });
  const { parent, dial } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await dial(requestText('GET', '/', handshake(parent.key)) + requestText('GET', '/smuggled'));
  t.equal((await client.response()).body, 'no');
  await client.end();
  t.equal(client.text.split('HTTP/1.1 ').length, 2, 'one response');
  t.equal(upstream.heads, 1, 'nothing came behind it');
});

t.test('a consent that is none is a failure of the upstream, and opens nothing', async (t) => {
  const accept = 'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=';
  const both = 'Connection: Upgrade\r\nUpgrade: websocket';
  let response = '';
  const upstream = await startTcpUpstream(
    t,
    (socket) => void socket.write(`${response}\r\n\r\nHTTP/1.1 200 OK`),
  );
  const { parent, finished, dial } = await startGateway(t, { routes: { '/': upstream.url } });
  for (const head of [
    `101 X\r\n${both}`,
    `101 X\r\n${both}\r\nSec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=`,
    `101 X\r\n${both}\r\n${accept}\r\n${accept}`,
    `101 X\r\n${both}\r\n${accept}\r\nTransfer-Encoding: chunked`,
    `101 X\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n${accept}`,
    `101 X\r\nConnection: close\r\nUpgrade: websocket\r\n${accept}`,
    `200 X\r\n${both}\r\n${accept}\r\nTransfer-Encoding: gzip`,
    `101 X\r\n${both}\r\n${accept}\r\nX: a\x00b`,
  ]) {
    response = `HTTP/1.1 ${head}`;
    const client = await dial(requestText('GET', '/', handshake(parent.key)));
    t.match(await client.response(), { status: 502, code: 'upstream_unreachable' }, head);
    await client.end();
    t.equal(client.text.split('HTTP/1.1 ').length, 2, 'one response');
  }
  t.ok(finished.every(({ status }) => status === 502));
});

t.test('what an upstream says with its consent is cleaned as in any response', async (t) => {
  const upstream = await startTcpUpstream(t, (socket) => {
    const lines = ['HTTP/1.1 101 Whatever', 'connection: x-hop, upgrade', 'UPGRADE: WebSocket', 'X-Hop: a'];
    lines.push('Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=', 'X-Service-Resolved-Tenant: forged');
    lines.push('X_Service_Caller_Key: forged', 'Content-Length: 0', 'Set-Cookie: a=1', 'Set-Cookie: b=2');
    socket.write(`${lines.join('\r\n')}\r\n\r\n\x81\x02hi`, 'latin1');
  });
  const { parent, dial } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await dial(requestText('GET', '/', handshake(parent.key)));
  await client.until(() => client.text.endsWith('\x81\x02hi'));
  const head = client.text.slice(0, client.text.indexOf('\r\n\r\n')).split('\r\n');
  t.equal(head[0], 'HTTP/1.1 101 Switching Protocols');
  t.notMatch(head.join('\n'), /forged|x-hop|content-length/i);
  t.equal(head.filter((line) => line.startsWith('Set-Cookie: ')).length, 2);
  t.ok(head.some((line) => line.toLowerCase() === `x-service-resolved-tenant: ${parent.id}`));
  t.ok(head.some((line) => /^x-request-id: [0-9a-f]{32}$/.test(line)));
});

t.test('an upgrade amid responses that are still to come waits for them', async (t) => {
  const order: string[] = [];
  const upstream = await startRawUpstream(t, () => ({ url = '' }, response) => {
    order.push(url);
    setTimeout(() => response.end(url), 20);
  });
  const { parent, dial, requestOf } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await dial(
    requestOf('GET', '/1') +
      requestOf('GET', '/2') +
      requestText('GET', '/3', handshake(parent.key)) +
      requestOf('GET', '/smuggled'),
  );
  for (const target of ['/1', '/2', '/3']) t.equal((await client.response()).body, target);
  await client.end();
  t.same(order, ['/1', '/2', '/3']);
});
