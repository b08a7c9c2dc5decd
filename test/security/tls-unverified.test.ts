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
import { bearer, openWebSocket } from '../support/websockets.ts';

for (const [what, names, trusts, serverName, status] of [
  ['of no known issuer', 'IP:127.0.0.1', false, null, 502],
  ['of the configured issuer', 'IP:127.0.0.1', true, null, 200],
  ['for another name', 'DNS:service.internal', true, null, 502],
  ['for the configured name', 'DNS:service.internal', true, 'service.internal', 200],
  ['for the name in the client’s Host', 'DNS:gateway.test', true, null, 502],
] as const)
  t.test(`an upstream with a certificate ${what} gets ${status === 200 ? 'requests' : 'none'}`, async (t) => {
    const { upstream, ca } = await startTlsUpstream(t, names);
    const tls = { ...noTls, caFile: trusts ? ca : null, serverName };
    const { call, port, parent } = await startGateway(t, {
      routes: { '/': { upstream: upstream.url, tls } },
    });
    t.equal((await call('GET', '/')).status, status);
    const opening = openWebSocket(t, port, '/', bearer(parent.key));
    if (status !== 200) {
      await t.rejects(opening, { message: 'status 502' });
      return t.equal(upstream.requests, 0);
    }
    const client = await opening;
    client.socket.send('hello');
    await eventually(() => client.messages.includes('hello'), 'the echo');
    if (serverName !== null) t.equal(upstream.serverNames.at(-1), serverName);
  });

t.test('clients that send different Hosts share connections', async (t) => {
  const { upstream, ca } = await startTlsUpstream(t);
  const { call, parent, dial } = await startGateway(t, {
    routes: { '/': { upstream: upstream.url, connections: 1, tls: { ...noTls, caFile: ca } } },
  });
  await call('GET', '/');
  for (const host of ['a.test', 'b.test', 'c.test']) {
    const authorization = `Authorization: Bearer ${parent.key}`;
    await (await dial(`GET / HTTP/1.1\r\nHost: ${host}\r\n${authorization}\r\n\r\n`)).response();
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
  const made = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test';
  const own = ['-addext', `subjectAltName=${names}`, '-keyout', key, '-out', cert];
  execFileSync('openssl', [...made.split(' '), ...own], { stdio: 'ignore' });
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
