// class: app
import t from 'tap';
import { eventually, startGateway } from '../../support/gateway.ts';
import { rawClient, requestText } from '../../support/raw-client.ts';
import { startRawUpstream, startTcpUpstream } from '../../support/upstreams.ts';
import { bearer, handshake, openWebSocket, startWebSocketUpstream } from '../../support/websockets.ts';

t.test('an upstream’s rejection is the client’s, status, headers and body', async (t) => {
  const upstream = await startRawUpstream(t, () => (request, response) => {
    const status = Number(request.url?.slice(1));
    const headers = {
      'content-type': 'text/plain',
      'www-authenticate': 'Custom',
      'x-service-caller-key': 'forged',
    };
    response.writeHead(status, headers).end(`no: ${status}`);
  });
  const { port, parent, finished, usage, dial } = await startGateway(t, { routes: { '/': upstream.url } });
  for (const status of [200, 302, 401, 403, 404, 429, 500, 503]) {
    const client = await dial(requestText('GET', `/${status}`, handshake(parent.key)));
    const response = await client.response();
    t.equal(response.status, status);
    t.equal(response.body, `no: ${status}`);
    t.match(response.headers, {
      'content-type': 'text/plain',
      'www-authenticate': 'Custom',
      'x-service-resolved-tenant': parent.id,
      'x-request-id': /^[0-9a-f]{32}$/,
      connection: 'close',
    });
    t.notMatch(response.rawHead, 'forged');
    await client.end();
  }
  await t.rejects(openWebSocket(t, port, '/403', bearer(parent.key)), { message: 'status 403' });
  await eventually(() => finished.length === 9, 'the records');
  t.match(finished[2], { status: 401, code: null, bytesOut: 'no: 401'.length });
  t.match(usage[2], { kind: 'read', status: 401 });
});

t.test('a rejection that breaks off is cut, not ended', async (t) => {
  let breakOff = (): unknown => undefined;
  const upstream = await startTcpUpstream(t, (socket) => {
    socket.write('HTTP/1.1 403 No\r\nContent-Length: 100000\r\n\r\nhalf');
    breakOff = () => socket.destroy();
  });
  const { parent, finished, dial } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await dial(requestText('GET', '/', handshake(parent.key)));
  await eventually(() => client.text.includes('half'), 'the first half of the response');
  breakOff();
  await client.end();
  t.notMatch(client.text, /\r\n\r\n.{10}/);
  await eventually(() => finished.length === 1, 'the record');
  t.equal(finished[0]?.code, 'cut_by_upstream');
});

t.test('another version of the protocol is told which one is known', async (t) => {
  const upstream = await startWebSocketUpstream(t);
  const { port, parent } = await startGateway(t, { routes: { '/': upstream.url } });
  for (const version of ['8', '', '13, 8']) {
    const client = await rawClient(t, port);
    const headers = Object.entries({
      ...Object.fromEntries(handshake(parent.key)),
      'Sec-WebSocket-Version': version,
    });
    client.send(requestText('GET', '/', headers));
    const response = await client.response();
    t.match(response, { status: 426, code: 'upgrade_required' }, version);
    t.match(response.headers, {
      upgrade: 'websocket',
      connection: 'close, Upgrade',
      'sec-websocket-version': '13',
    });
    await client.end();
  }
  t.equal(upstream.handshakes.length, 0);
});

t.test('an upstream’s 426 says what to upgrade to, of a plain request and of an upgrade', async (t) => {
  const upstream = await startRawUpstream(t, () => (_request, response) => {
    response.writeHead(426, { connection: 'Upgrade', upgrade: 'IRC/6.9, websocket' }).end('upgrade');
  });
  const { parent, dial } = await startGateway(t, { routes: { '/': upstream.url } });
  const authorization: [string, string] = ['Authorization', `Bearer ${parent.key}`];
  for (const [connection, headers] of [
    ['Upgrade', [authorization]],
    ['close, Upgrade', [authorization, ['Connection', 'close'] as [string, string]]],
    ['close, Upgrade', handshake(parent.key)],
  ] as const) {
    const client = await dial(requestText('GET', '/', headers));
    const response = await client.response();
    t.match([response.status, response.body], [426, 'upgrade']);
    t.match(response.headers, { upgrade: 'IRC/6.9, websocket', connection });
    if (connection.startsWith('close')) await client.end();
  }
});

t.test('status text and headers of a refusal arrive byte for byte', async (t) => {
  const upstream = await startTcpUpstream(t, (socket) => {
    socket.end(
      'HTTP/1.1 403 Verg\xfctung\r\nX-Name: caf\xe9 \x80\xff\r\nContent-Length: 3\r\n\r\nn\xf6n',
      'latin1',
    );
  });
  const { parent, dial } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await dial(requestText('GET', '/', handshake(parent.key)));
  const response = await client.response();
  t.match(response.rawHead, /^HTTP\/1\.1 403 Verg\xfctung\r\n/);
  t.equal(response.headers['x-name'], 'caf\xe9 \x80\xff');
  t.equal(response.body, 'n\xf6n');
});
