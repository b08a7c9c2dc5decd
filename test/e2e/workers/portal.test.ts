// class: real
/** Workers share the portal's port, its brand and its sessions. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { eventually } from '../../support/eventually.ts';
import { httpClient } from '../../support/http-client.ts';
import { openPortal } from '../../support/portal.ts';
import { tempFolder } from '../../support/process.ts';
import { unusedPort } from '../../servers/unused-port.mjs';
import { startUpstream } from '../../support/upstreams.ts';
import { ask, startWorkers } from '../../support/workers.ts';

t.test('two workers serve one portal, follow a reload, and end in time', async (t) => {
  const upstream = await startUpstream(t);
  const folder = tempFolder(t);
  const logo = Buffer.from([0, 1, 2, 253, 254, 255]);
  writeFileSync(join(folder, 'logo.png'), logo);
  const file = join(folder, 'gateway.yaml');
  const configure = (name: string): void =>
    writeFileSync(
      file,
      `portal: { name: ${name}, logo_file: ${join(folder, 'logo.png')} }\ndrain_idle_ms: 0\n`,
    );
  configure('Before');
  const portalPort = await unusedPort();
  const portalOrigin = `http://127.0.0.1:${portalPort}`;
  const gateway = await startWorkers(t, {
    UPSTREAM_URL: upstream.url,
    PORTAL_PORT: String(portalPort),
    PORTAL_URL: 'https://portal.example/',
    CONFIG: file,
  });
  const { parent, program, port } = gateway;

  const sub = await parent.create();
  const session = await openPortal(t, { portalOrigin }, parent, { sub_account_id: sub.id, scopes: [] });
  // A connection of its own for each: connections go to the workers in turn.
  const onEach = async (path: string) => {
    const clients = [1, 2, 3, 4].map(() => httpClient(t, portalOrigin));
    return Promise.all(clients.map((call) => call('GET', path, { key: session.token })));
  };
  for (const { status } of await onEach('/api/session')) t.equal(status, 200);
  for (const { body } of await onEach('/api/brand')) t.match(body, { name: 'Before', has_logo: true });
  const shown = Buffer.from(await (await fetch(`${portalOrigin}/logo`)).arrayBuffer());
  t.ok(shown.equals(logo), 'the logo arrives as it is');

  const minted = await session.call('POST', `/sub-accounts/${sub.id}/api-keys`, { body: { name: 'key' } });
  const key = String(minted.body['api_key']);
  for (let i = 0; i < 4; i++) t.equal((await ask(t, port, key)).status, 200);
  const revoke = `/sub-accounts/${sub.id}/api-keys/${String(minted.body['id'])}/revoke`;
  const revoked = await session.call('POST', revoke);
  t.match(revoked.headers['x-service-enforced'], /^replicas=2;/);
  for (let i = 0; i < 4; i++) t.equal((await ask(t, port, key)).status, 401);

  configure('After');
  program.child.kill('SIGHUP');
  // On a machine that stands still, a worker may be taken for one that hangs, and its connections end.
  const names = () =>
    onEach('/api/brand').then(
      (all) => all.map(({ body }) => body['name']),
      () => ['none'],
    );
  await eventually(async () => (await names()).every((name) => name === 'After'));
  t.equal(await program.kill('SIGTERM'), 0);
});
