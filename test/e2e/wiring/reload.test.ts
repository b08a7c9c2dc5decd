// class: real
/** The configuration is exchanged under open connections: all of it, or nothing. */
import { writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { once } from 'node:events';
import t from 'tap';
import { NeedsRestart, restartNeeded } from '../../../src/wiring/restart-needed.ts';
import { operatorToken } from '../../support/apis.ts';
import { certificate } from '../../support/config-certificates.ts';
import { goodConfig } from '../../support/config-files.ts';
import { eventually } from '../../support/eventually.ts';
import { tempFolder } from '../../support/process.ts';
import { get, named, raw, start } from '../../support/reload.ts';
import type { Scope } from '../../support/servers.ts';
import { startRawUpstream } from '../../support/upstreams.ts';
import { openWebSocket, startWebSocketUpstream } from '../../support/websockets.ts';

t.test('the next request on an open connection goes where the new configuration says', async (t) => {
  const [before, after] = [await named(t, 'before'), await named(t, 'after')];
  const { gateway, key, settings, origin } = await start(t, `upstream_url: ${before.url}`);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => agent.destroy());
  const first = await get(agent, `${origin}/x`, key);
  t.equal(first.body, 'before');
  await gateway.reload(
    goodConfig(settings(`upstream_url: ${after.url}\nlimits: { max_headers: 20, max_header_bytes: 4096 }`)),
  );
  const second = await get(agent, `${origin}/x`, key);
  t.equal(second.body, 'after');
  t.equal(second.localPort, first.localPort, 'on the same connection');
  const many = Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`x-a-${i}`, '1']));
  t.equal((await get(agent, `${origin}/x`, key, many)).status, 431, 'limits hold, too');
  const long = { 'x-long': 'a'.repeat(6_000) };
  t.equal((await get(new Agent(), `${origin}/x`, key, long)).status, 431, 'those of new connections as well');
  await eventually(() => before.open() === 0);
  t.pass('the old upstream has no connection left');
});

t.test('what is under way ends by what it began with, and only then its upstream is let go', async (t) => {
  const upstream = await startWebSocketUpstream(t);
  const after = await named(t, 'after');
  const held = await named(t, 'held', true);
  const routes = `routes: [{ prefix: /ws, upstream: "${upstream.url}" }, { prefix: /, upstream: "${held.url}" }]`;
  const { gateway, key, settings, origin, port } = await start(t, routes);
  const socket = await openWebSocket(t, port, '/ws', { authorization: `Bearer ${key}` });
  const agent = new Agent({ keepAlive: true });
  t.teardown(() => agent.destroy());
  const slow = get(agent, `${origin}/slow`, key);
  await eventually(() => held.holding() === 1);

  await gateway.reload(goodConfig(settings(`upstream_url: ${after.url}`)));
  t.equal((await get(agent, `${origin}/x`, key)).body, 'after');
  socket.socket.send('still here');
  await eventually(() => socket.messages.includes('still here'));
  held.release();
  t.match(await slow, { status: 200, body: 'held' });
  t.equal(socket.closed, null);
  t.ok(held.open() > 0, 'the pools of before stay while the WebSocket does');
  socket.socket.close();
  await eventually(() => held.open() === 0);
});

t.test('100-continue, malformed requests and the operator API work after a reload as before', async (t) => {
  const upstream = await named(t, 'it');
  const { gateway, key, settings, port, internal } = await start(t, `upstream_url: ${upstream.url}`);
  await gateway.reload(goodConfig(settings(`upstream_url: ${upstream.url}\nmanagement: {}`)));
  const auth = `Host: x\r\nAuthorization: Bearer ${key}\r\n`;
  t.match(
    await raw(
      port,
      `POST /x HTTP/1.1\r\n${auth}Expect: 100-continue\r\nContent-Length: 2\r\nConnection: close\r\n\r\nab`,
    ),
    /^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 /,
  );
  t.match(await raw(port, 'G E T / HTTP/1.1\r\n\r\n'), /^HTTP\/1.1 400 /);
  t.equal((await internal('GET', '/admin/v1/accounts', { key: operatorToken })).status, 200);
});

t.test('the internal listener does by itself what no application there waits for', async (t) => {
  const upstream = await named(t, 'it');
  const { gateway, settings } = await start(t, `upstream_url: ${upstream.url}`);
  for (const when of ['before', 'after']) {
    const { port } = gateway.internalAddress;
    const auth = `Host: x\r\nConnection: close\r\nAuthorization: Bearer ${operatorToken}\r\n`;
    const json = 'Content-Type: application/json\r\nContent-Length: 12\r\n';
    const expecting = `POST /admin/v1/accounts HTTP/1.1\r\n${auth}${json}Expect: 100-continue\r\n\r\n{"name":"ab"}`;
    t.match(await raw(port, expecting.replace('12', '13')), /100 Continue\r\n\r\nHTTP\/1.1 201 /, when);
    const upgrading = 'GET /livez HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n';
    t.match(
      await raw(port, upgrading),
      /^HTTP\/1.1 200 /,
      `${when}: an upgrade that the application does not serve is passed over`,
    );
    if (when === 'before') await gateway.reload(goodConfig(settings(`upstream_url: ${upstream.url}`)));
  }
});

t.test('a download goes on over a reload', async (t) => {
  let finish = (): void => undefined;
  const upstream = await startRawUpstream(t, () => (_request, response) => {
    response.write('a'.repeat(100_000));
    finish = () => response.end('b'.repeat(100_000));
  });
  const after = await named(t, 'after');
  const { gateway, key, settings, origin } = await start(t, `upstream_url: ${upstream.url}`);
  const startedMs = performance.now();
  const response = await fetch(`${origin}/x`, { headers: { authorization: `Bearer ${key}` } });
  await gateway.reload(goodConfig(settings(`upstream_url: ${after.url}`)));
  // By now what was replaced has been looked at, and must have been found in use.
  await eventually(async () => {
    await gateway.reload(goodConfig(settings(`upstream_url: ${after.url}`)));
    return performance.now() - startedMs > 1_100;
  });
  finish();
  t.equal((await response.text()).length, 200_000);
});

t.test(
  'a tenant has no more places while there are two configurations, and the new limit holds',
  async (t) => {
    const upstream = await named(t, 'held', true);
    const wanted = (places: number) =>
      `upstream_url: ${upstream.url}\nlimits: { in_flight_per_tenant: ${places} }`;
    const { gateway, key, settings, origin } = await start(t, wanted(2));
    const agent = new Agent({ keepAlive: true });
    t.teardown(() => agent.destroy());
    const slow = [get(agent, `${origin}/1`, key), get(agent, `${origin}/2`, key)];
    await eventually(() => upstream.holding() === 2);
    await gateway.reload(goodConfig(settings(wanted(2))));
    t.equal((await get(agent, `${origin}/3`, key)).status, 429);
    await gateway.reload(goodConfig(settings(wanted(3))));
    slow.push(get(agent, `${origin}/4`, key));
    await eventually(() => upstream.holding() === 3);
    t.equal((await get(agent, `${origin}/5`, key)).status, 429);
    upstream.release();
    for (const answer of slow) t.equal((await answer).status, 200);
  },
);

t.test('a renewed certificate is shown to new connections, and one that is no good is not', async (t) => {
  const folder = tempFolder(t);
  const [certFile, keyFile] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
  const renew = ({ cert, key }: { cert: string; key: string }): void => {
    writeFileSync(certFile, cert);
    writeFileSync(keyFile, key);
  };
  renew(certificate.a);
  const upstream = await named(t, 'it');
  const yaml = `upstream_url: ${upstream.url}\nlisten: { tls: { cert_file: ${certFile}, key_file: ${keyFile} } }`;
  const { gateway, settings, port } = await start(t, yaml, { callers: false });
  const config = goodConfig(settings(yaml));
  const before = await shake(t, port);
  renew(certificate.b);
  await gateway.reload(config);
  const after = await shake(t, port);
  t.not(shown(after), shown(before));
  renew({ cert: certificate.a.cert, key: certificate.b.key });
  await t.rejects(gateway.reload(config), { code: 'ERR_OSSL_X509_KEY_VALUES_MISMATCH' });
  t.equal(shown(await shake(t, port)), shown(after));
  for (const socket of [before, after]) {
    socket.write('GET /v1/sub-accounts HTTP/1.1\r\nHost: x\r\n\r\n');
    t.match(String(await once(socket, 'data')), /^HTTP\/1.1 401 /, 'connections of before stay');
  }
});

t.test(
  'what was agreed on is used: a certificate that becomes unusable meanwhile changes nothing',
  async (t) => {
    const folder = tempFolder(t);
    const [certFile, keyFile] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
    writeFileSync(certFile, certificate.a.cert);
    writeFileSync(keyFile, certificate.a.key);
    const upstream = await named(t, 'it');
    const yaml = `upstream_url: ${upstream.url}\nlisten: { tls: { cert_file: ${certFile}, key_file: ${keyFile} } }`;
    const { gateway, settings, port } = await start(t, yaml, { callers: false });
    const before = await shake(t, port);
    writeFileSync(certFile, certificate.b.cert);
    writeFileSync(keyFile, certificate.b.key);
    await gateway.reload(goodConfig(settings(yaml)), async () => writeFileSync(keyFile, certificate.a.key));
    t.not(shown(await shake(t, port)), shown(before));
  },
);

t.test('what a running process cannot exchange refuses the reload, and names it', async (t) => {
  const [before, after] = [await named(t, 'before'), await named(t, 'after')];
  const { gateway, key, settings, origin } = await start(t, `upstream_url: ${before.url}`);
  const wanted = `upstream_url: ${after.url}\nheaders: { prefix: X-Other- }\nlimits: { answer_ms: 900 }`;
  const refused = gateway.reload(goodConfig({ ...settings(wanted), COHERENCE_LEASE_MS: '2000' }));
  await t.rejects(
    refused,
    new NeedsRestart('takes effect only with a restart: coherence; headers; limits.answer_ms'),
  );
  const unreadable = { ...goodConfig(settings(`upstream_url: ${after.url}`)) };
  const routes = unreadable.routes.map((route) => ({ ...route, tls: { ...route.tls, caFile: '/nowhere' } }));
  await t.rejects(gateway.reload({ ...unreadable, routes }), { code: 'ENOENT' });
  const agent = new Agent();
  t.equal((await get(agent, `${origin}/x`, key)).body, 'before', 'and nothing has changed');
});

t.test('every setting either can be reloaded or is known to need a restart', (t) => {
  const config = goodConfig({ DATABASE_URL: 'postgres://h/d', UPSTREAM_URL: 'http://u' });
  const wanted = { ...config, limits: { ...config.limits, keysPerAccount: 1 } };
  const changed = (key: string) =>
    restartNeeded(config, key === 'limits' ? wanted : { ...config, [key]: 'changed' }).length > 0;
  const reloadable = Object.keys(config).filter((key) => !changed(key));
  t.same(reloadable.sort(), [
    'authentication',
    'certificates',
    'drainDelayMs',
    'drainIdleMs',
    'drainMs',
    'keys',
    'limits',
    'management',
    'operators',
    'problems',
    'reference',
    'routes',
    'trustedProxies',
  ]);
  t.end();
});

function shake(t: Scope, port: number): Promise<TLSSocket> {
  const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false });
  t.teardown(() => socket.destroy());
  return once(socket, 'secureConnect').then(() => socket);
}

function shown(socket: TLSSocket): string {
  return socket.getPeerCertificate().fingerprint256;
}
