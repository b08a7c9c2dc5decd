// class: app
/** The portal's listener, in a whole gateway: what can be reached there, what a reload changes, and its end. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { operatorToken } from '../support/apis.ts';
import { goodConfig } from '../support/config-files.ts';
import { eventually } from '../support/eventually.ts';
import { httpClient } from '../support/http-client.ts';
import { makeLink, openPortal } from '../support/portal.ts';
import { parentOf, start } from '../support/reload.ts';
import { valueOf } from '../support/scrape.ts';
import type { Scope } from '../support/servers.ts';
import { startUpstream } from '../support/upstreams.ts';

t.test('a link of the public listener opens a session on the listener of the portal', async (t) => {
  const { portalOrigin, parent } = await startPortal(t);
  const sub = await parent.create({ name: 'Ada' });
  const { body } = await makeLink(parent);
  t.match(body['url'], /^https:\/\/portal\.example\/keys\/#[\w-]{64}$/);
  const portal = await openPortal(t, { portalOrigin }, parent, { sub_account_id: sub.id });
  const minted = await portal.call('POST', `/sub-accounts/${sub.id}/api-keys`, { body: { name: 'key' } });
  t.equal(minted.status, 201);
  const revoke = `/sub-accounts/${sub.id}/api-keys/${String(minted.body['id'])}/revoke`;
  const revoked = await portal.call('POST', revoke);
  t.match(revoked.headers['x-service-enforced'], /^replicas=1;/);
  t.match((await portal.call('GET', '/session')).body, { sub_account: { name: 'Ada' } });
});

t.test('the listener of the portal has no other path, whatever the credential', async (t) => {
  const { portal, parent, upstream } = await startPortal(t);
  const sub = await parent.create();
  for (const path of [
    '/orders',
    '/v1/orders',
    '/v1/sub-accounts',
    `/v1/sub-accounts/${sub.id}/api-keys`,
    '/v1/sub-accounts/docs',
    '/admin/v1/accounts',
    '/admin/v1/docs',
    '/console/',
    '/healthz',
    '/readyz',
    '/metrics',
    'http://127.0.0.1/v1/sub-accounts',
  ])
    for (const key of [parent.key, operatorToken])
      for (const method of ['GET', 'POST']) {
        const { status } = await portal(method, path, { key });
        t.equal(status, 404, `${method} ${path}`);
      }
  for (const path of ['/api/orders', '/api/../v1/sub-accounts'])
    t.equal((await portal('GET', path, { key: parent.key })).status, 401, `${path} is below the API`);
  t.equal(upstream.heads, 0, 'nothing reached the upstream');
});

t.test('the other listeners have nothing of the portal', async (t) => {
  const { call, internal, parent, upstream } = await startPortal(t);
  const { link } = await makeLink(parent);
  for (const [method, path] of [
    ['GET', '/'],
    ['GET', '/brand.css'],
    ['GET', '/logo'],
    ['GET', '/api/brand'],
    ['GET', '/api/session'],
    ['POST', '/api/redeem'],
  ] as const) {
    const options = method === 'POST' ? { body: { link } } : {};
    t.equal((await call(method, path, options)).status, 401, `${path} is proxied, so it needs a key`);
    await call(method, path, { key: parent.key, ...options });
    t.match(upstream.received.at(-1), { method, target: path }, 'its upstream gets it');
    if (path !== '/') t.equal((await internal(method, path, options)).status, 404, `internal: ${path}`);
  }
});

t.test('a reload changes the brand on open connections, and sessions go on', async (t) => {
  const { portal, portalOrigin, parent, gateway, settings, yaml } = await startPortal(t);
  const session = await openPortal(t, { portalOrigin }, parent);
  t.match((await portal('GET', '/api/brand')).body, { name: 'Before', has_logo: false });
  await gateway.reload(goodConfig(settings(yaml('After', '\n  accent: "#1d5dc9"'))));
  t.match((await portal('GET', '/api/brand')).body, { name: 'After' });
  t.match((await portal('GET', '/brand.css')).text, '--brand:#1d5dc9');
  t.equal((await session.call('GET', '/session')).status, 200);
  await t.rejects(gateway.reload(goodConfig(settings('upstream_url: http://127.0.0.1:1'))), {
    message: /only with a restart: portal\.host, portal\.port/,
  });
});

t.test('requests have metrics of their own', async (t) => {
  const { portal, gateway } = await startPortal(t);
  const internalOrigin = `http://127.0.0.1:${gateway.internalAddress.port}`;
  const value = (series: string) => valueOf(internalOrigin, `tenancy_gateway_${series}`);
  await portal('GET', '/api/brand');
  await portal('GET', '/api/session', { key: 'A'.repeat(43) });
  await eventually(
    async () => (await value('portal_request_duration_seconds_count{route="/api/session"}')) === 1,
  );
  t.equal(await value('portal_request_duration_seconds_count{route="/api/brand"}'), 1);
  t.equal(await value('portal_refusals_total{code="unauthenticated"}'), 1);
  t.equal(await value('connections{listener="portal"}'), 1);
});

t.test('a request under way when the gateway ends gets its response', async (t) => {
  const { gateway } = await startPortal(t);
  const port = gateway.portalAddress?.port ?? 0;
  const body = JSON.stringify({ link: 'A'.repeat(43) });
  const socket = connect(port, '127.0.0.1');
  socket.write(
    `POST /api/redeem HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`,
  );
  t.match(String((await once(socket, 'data'))[0]), /^HTTP\/1\.1 100 /);
  let ended = false;
  const stopped = gateway.stop().then(() => (ended = true));
  await eventually(() => refuses(port));
  t.equal(ended, false, 'the gateway waits for it');
  socket.write(body);
  t.match(await text(socket), /^HTTP\/1\.1 401 [^]*Connection: close/i);
  await stopped;
});

async function startPortal(t: Scope) {
  const upstream = await startUpstream(t);
  const yaml = (name: string, more = ''): string => `
upstream_url: ${upstream.url}
drain_idle_ms: 0
limits: { max_event_loop_delay_ms: 0 }
portal:
  port: 0
  url: https://portal.example/keys
  name: ${name}${more}
`;
  const started = await start(t, yaml('Before'));
  const { gateway, origin } = started;
  const portalOrigin = `http://127.0.0.1:${gateway.portalAddress?.port}`;
  const parent = await parentOf(t, origin, `http://127.0.0.1:${gateway.internalAddress.port}`);
  return {
    ...started,
    upstream,
    yaml,
    parent,
    portalOrigin,
    portal: httpClient(t, portalOrigin),
    call: httpClient(t, origin),
  };
}

/** Whether nobody accepts connections on a port. */
async function refuses(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const refused = new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(false)).once('error', () => resolve(true));
  });
  return refused.finally(() => socket.destroy());
}
