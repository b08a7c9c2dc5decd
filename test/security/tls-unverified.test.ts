// class: app
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import t from 'tap';
import { WebSocketServer } from 'ws';
import { eventually, startGateway } from '../support/gateway.ts';
import type { Scope } from '../support/servers.ts';
import { openWebSocket } from '../support/websockets.ts';

t.test('an upstream with a certificate of no known issuer gets no request', async (t) => {
  const { upstream } = await startTlsUpstream(t);
  const { call, port, parent } = await startGateway(t, { routes: { '/': upstream.url } });
  const response = await call('GET', '/');
  t.equal(response.status, 502);
  await t.rejects(openWebSocket(t, port, '/', { authorization: `Bearer ${parent.key}` }), {
    message: 'status 502',
  });
  t.equal(upstream.requests, 0);
});

t.test('with its CA it does, by plain requests and by WebSockets', async (t) => {
  const { upstream, ca } = await startTlsUpstream(t);
  const { call, port, parent } = await startGateway(t, {
    routes: { '/': { upstream: upstream.url, tls: { ...noTls, caFile: ca } } },
  });
  t.equal((await call('GET', '/')).status, 200);
  const client = await openWebSocket(t, port, '/', { authorization: `Bearer ${parent.key}` });
  client.socket.send('hello');
  await eventually(() => client.messages.includes('hello'), 'the echo');
});

t.test('a certificate for another name gets no request, unless that name was configured', async (t) => {
  const { upstream, ca } = await startTlsUpstream(t, 'DNS:service.internal');
  const route = { upstream: upstream.url };
  const { call, port, parent } = await startGateway(t, {
    routes: {
      '/wrong': { ...route, tls: { ...noTls, caFile: ca } },
      '/right': { ...route, tls: { ...noTls, caFile: ca, serverName: 'service.internal' } },
    },
  });
  t.equal((await call('GET', '/wrong')).status, 502);
  await t.rejects(openWebSocket(t, port, '/wrong', { authorization: `Bearer ${parent.key}` }), {
    message: 'status 502',
  });
  t.equal(upstream.requests, 0);
  t.equal((await call('GET', '/right')).status, 200);
  t.equal(upstream.serverNames.at(-1), 'service.internal');
});

t.test('the name that is verified is not the one in the client’s Host', async (t) => {
  const { upstream, ca } = await startTlsUpstream(t, 'DNS:gateway.test');
  const { call } = await startGateway(t, {
    routes: { '/': { upstream: upstream.url, tls: { ...noTls, caFile: ca } } },
  });
  t.equal((await call('GET', '/')).status, 502);
  t.equal(upstream.requests, 0);
});

t.test('clients that send different Hosts share connections', async (t) => {
  const { upstream, ca } = await startTlsUpstream(t);
  const { call, parent, port } = await startGateway(t, {
    routes: { '/': { upstream: upstream.url, connections: 1, tls: { ...noTls, caFile: ca } } },
  });
  const { rawRequest } = await import('../support/raw-client.ts');
  await call('GET', '/');
  for (const host of ['a.test', 'b.test', 'c.test']) {
    const authorization = `Authorization: Bearer ${parent.key}`;
    await rawRequest(t, port, `GET / HTTP/1.1\r\nHost: ${host}\r\n${authorization}\r\n\r\n`);
  }
  t.equal(upstream.requests, 4);
  t.equal(upstream.serverNames.length, 1);
});

t.test('the gateway shows its own certificate where one is configured', async (t) => {
  const { upstream, ca, cert, key } = await startTlsUpstream(t, undefined, true);
  const { call } = await startGateway(t, {
    routes: {
      '/without': { upstream: upstream.url, tls: { ...noTls, caFile: ca } },
      '/with': { upstream: upstream.url, tls: { ...noTls, caFile: ca, certFile: cert, keyFile: key } },
    },
  });
  t.equal((await call('GET', '/without')).status, 502);
  t.equal((await call('GET', '/with')).status, 200);
});

const noTls = { caFile: null, certFile: null, keyFile: null, serverName: null };

async function startTlsUpstream(t: Scope, names = 'IP:127.0.0.1', wantsCertificate = false) {
  const directory = mkdtempSync(join(tmpdir(), 'tls-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const [cert, key] = [join(directory, 'cert.pem'), join(directory, 'key.pem')];
  const options = [
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-days',
    '2',
  ];
  execFileSync(
    'openssl',
    [
      'req',
      ...options,
      '-subj',
      '/CN=test',
      '-addext',
      `subjectAltName=${names}`,
      '-keyout',
      key,
      '-out',
      cert,
    ],
    { stdio: 'ignore' },
  );
  const upstream = { url: '', requests: 0, serverNames: [] as (string | false | undefined)[] };
  const files = { cert: readFileSync(cert), key: readFileSync(key) };
  const server = createServer(
    { ...files, ca: files.cert, requestCert: wantsCertificate, rejectUnauthorized: wantsCertificate },
    (_request, response) => {
      upstream.requests += 1;
      response.end('ok');
    },
  );
  server.on('secureConnection', (socket: TLSSocket & { servername?: string }) =>
    upstream.serverNames.push(socket.servername),
  );
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => {
    upstream.requests += 1;
    socket.on('message', (data) => socket.send((data as Buffer).toString()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of sockets.clients) socket.terminate();
    server.closeAllConnections();
    server.close();
  });
  upstream.url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { upstream, ca: cert, cert, key };
}
