// class: app
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import t from 'tap';
import { hangUp, resetConnection } from '../../src/http/hang-up.ts';
import { certificate } from '../support/config-certificates.ts';
import { eventually, startGateway, startProxied } from '../support/gateway.ts';
import { pair } from '../support/socket-pair.ts';
import { rawClient, requestText, tlsClient } from '../support/raw-client.ts';
import { startRawUpstream, startUpstream } from '../support/upstreams.ts';

const upload = 8 * 1024 * 1024;

for (const secure of [false, true]) {
  for (const framing of ['a length', 'chunks']) {
    const name = `${framing}${secure ? ', by TLS' : ''}`;
    t.test(`a client that sends a large body before it reads gets the rejection: ${name}`, async (t) => {
      const upstream = await startUpstream(t);
      const guarded = { upstream: upstream.url, scopes: { read: null, write: 'billing:write' } };
      const { port, parent, directory } = await startGateway(t, {
        routes: { '/': upstream.url, '/guarded': guarded },
        ...(secure ? { tls: certificate.a } : {}),
      });
      const manager = directory.addParent(['sub_accounts:write']);
      const json: [string, string] = ['Content-Type', 'application/json'];
      for (const [status, method, path, key, headers] of [
        [401, 'POST', '/', 'tgw_none', []],
        [403, 'PUT', '/guarded', parent.key, []],
        [400, 'POST', '/v1/%2e/sub-accounts', parent.key, []],
        [405, 'PROPFIND', '/', parent.key, []],
        [401, 'POST', '/v1/sub-accounts', 'tgw_none', [json]],
        [403, 'POST', '/v1/sub-accounts', parent.key, [json]],
        [404, 'POST', '/v1/sub-accounts/nothing/here', manager.key, [json]],
        [413, 'POST', '/v1/sub-accounts', manager.key, [json]],
        [415, 'POST', '/v1/sub-accounts', manager.key, [['Content-Type', 'text/plain']]],
      ] as const) {
        const client = await (secure ? tlsClient(t, port, certificate.a.cert) : rawClient(t, port));
        const broken = once(client.socket, 'error').then(([error]) => error as Error);
        client.socket.pause();
        const length =
          framing === 'chunks' ? ['Transfer-Encoding', 'chunked'] : ['Content-Length', String(upload)];
        client.send(
          requestText(method, path, [
            ['Authorization', `Bearer ${key}`],
            ...headers,
            length as [string, string],
          ]),
        );
        const chunk = framing === 'chunks' ? `10000\r\n${'x'.repeat(65_536)}\r\n` : 'x'.repeat(65_536);
        const sent = (async () => {
          for (let i = 0; i < upload / 65_536; i += 1)
            await new Promise((resolve) => client.socket.write(chunk, resolve));
        })();
        const failure = await Promise.race([sent, broken]);
        t.equal(failure, undefined, `${status} ${path}: all of it was taken`);
        client.socket.resume();
        const response = await client.response(method);
        t.equal(response.status, status, path);
        t.equal(response.headers['connection'], 'close', path);
        await client.end();
      }
      t.equal(upstream.heads, 0);
    });
  }
}

t.test('a response amid a large upload is read by a client that sends first', async (t) => {
  const upstream = await startRawUpstream(t, () => (request, response) => {
    response.writeHead(413, { 'content-length': '9' }).end('too large');
    request.resume();
  });
  const { port, requestOf } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await rawClient(t, port);
  client.socket.pause();
  client.send(requestOf('POST', '/', [['Content-Length', String(upload)]]));
  await new Promise((resolve) => client.socket.write(Buffer.alloc(upload), resolve));
  client.socket.resume();
  const response = await client.response('POST');
  t.same([response.status, response.body], [413, 'too large']);
});

t.test('what follows a response that is the last on its connection is no request', async (t) => {
  const { upstream, dial, requestOf } = await startProxied(t);
  const client = await dial(requestText('POST', '/', [['Content-Length', '1000000']]));
  t.equal((await client.response('POST')).status, 401);
  client.send('x'.repeat(1_000_000) + requestOf('GET', '/smuggled'));
  client.socket.end();
  await client.end();
  t.equal(client.text.split('HTTP/1.1 ').length, 2, 'one response');
  t.equal(upstream.heads, 0);
});

t.test('a client that goes on sending, or falls silent, is cut', async (t) => {
  const bounds = { bytes: 1024 * 1024, silentMs: 60_000, ms: 60_000 };
  for (const [name, most, send] of [
    ['bytes', bounds, true],
    ['silence', { ...bounds, silentMs: 2_000 }, false],
    ['time', { ...bounds, bytes: Infinity, ms: 2_000 }, true],
  ] as const) {
    const [near, far] = await pair(t);
    far.resume();
    hangUp(near, { network: '', countHeld: () => undefined }, most as typeof bounds as never);
    await once(far, 'end');
    t.notOk(near.destroyed, 'it reads on when it has said that it is over');
    const more = send ? setInterval(() => far.writable && far.write(Buffer.alloc(65_536)), 1) : undefined;
    await eventually(() => near.destroyed, name);
    clearInterval(more);
    far.destroy();
  }
});

t.test('a connection is reset, and one that is just ending is closed all the same', async (t) => {
  for (const [name, end] of [
    ['open', () => undefined],
    ['ending', (near: Socket) => near.end()],
    ['ended a moment ago', (near: Socket) => new Promise((resolve) => near.end(() => resolve(undefined)))],
  ] as const) {
    const [near, far] = await pair(t);
    const closed = once(near, 'close');
    const failed = name === 'open' ? once(far, 'error') : null;
    await end(near);
    // In the tick in which the end is said, Node itself would lose the connection.
    await new Promise<void>((resolve) => process.nextTick(() => process.nextTick(resolve)));
    resetConnection(near);
    await closed;
    far.resume();
    if (failed !== null) t.match(await failed, [{ code: 'ECONNRESET' }]);
    t.ok(near.destroyed, name);
  }
});

t.test('a reset reaches the connection below TLS, on either side', async (t) => {
  const { cert, key } = certificate.a;
  const server = createTlsServer({ cert, key }).listen(0, '127.0.0.1');
  // Node's TLS takes a reset for an end, so what is between the two tells.
  const seen: unknown[] = [];
  const between = createServer((client) => {
    const target = connect((server.address() as AddressInfo).port, '127.0.0.1');
    for (const [from, to] of [
      [client, target],
      [target, client],
    ] as const) {
      from.on('error', (error: NodeJS.ErrnoException) => seen.push(error.code));
      from.on('data', (chunk) => to.write(chunk)).on('close', () => to.destroy());
    }
  }).listen(0, '127.0.0.1');
  t.teardown(() => [server, between].forEach((each) => each.close()));
  await Promise.all([once(server, 'listening'), once(between, 'listening')]);
  for (const side of ['client', 'server']) {
    const { port } = between.address() as AddressInfo;
    const client = connectTls({ port, host: '127.0.0.1', ca: cert, servername: 'localhost' });
    const accepting = once(server, 'secureConnection') as Promise<[Socket]>;
    const [[accepted]] = await Promise.all([accepting, once(client, 'secureConnect')]);
    for (const socket of [client, accepted]) socket.on('error', () => undefined).resume();
    const near = side === 'client' ? client : accepted;
    resetConnection(near);
    await eventually(() => near.closed && seen.length > 0);
    t.same(seen.splice(0), ['ECONNRESET'], side);
  }
});
