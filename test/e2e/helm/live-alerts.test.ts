// class: night
/**
 * Alerts of the chart against a live Prometheus that scrapes a real gateway: what each is about is provoked, it fires, the cause is
 * taken away, and it is silent again. Those about waiting are in `live-waits.test.ts`.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { operatorToken } from '../../support/apis.ts';
import { withoutPrometheus } from '../../support/chart-tools.ts';
import { certificate } from '../../support/config-certificates.ts';
import { startPrometheus, type LivePrometheus } from '../../support/live-prometheus.ts';
import { startPostgres } from '../../support/postgres.ts';
import { becomes, cli, startProcess, tempFolder } from '../../support/process.ts';
import { startRedis } from '../../support/redis.ts';
import { parentOf } from '../../support/reload.ts';
import { rawSql } from '../../support/store.ts';

t.test('alerts fire and are silent again, scraped from a gateway', { skip: withoutPrometheus }, async (t) => {
  const server = await startPostgres(t);
  const redis = await startRedis(t);
  const files = configuration(t);
  const env = {
    CONFIG: files.config,
    DATABASE_URL: server.url,
    REDIS_URL: redis.url,
    ADMIN_TOKEN: operatorToken,
    COHERENCE_LEASE_MS: '2000',
  };
  const { program, url, internalUrl } = await startProcess(t, env);
  const live = await startPrometheus(t, internalUrl);
  await becomes(internalUrl, 200);
  const { key } = await parentOf(t, url, internalUrl);
  const sql = rawSql(t, server.url);
  const readOnly = async (on: boolean): Promise<void> => {
    await sql.unsafe('set default_transaction_read_only = off');
    await sql.unsafe(`alter system set default_transaction_read_only = ${on ? 'on' : 'off'}`);
    await sql`select pg_reload_conf()`;
  };
  const reload = (): boolean => program.child.kill('SIGHUP');
  /** Requests one after the other until that is over. */
  const calling = async (path: string, during: () => Promise<void>): Promise<void> => {
    let over = false;
    const caller = (async () => {
      while (!over)
        await fetch(url + path, { headers: { authorization: `Bearer ${key}` } }).then((r) => r.text());
    })();
    await during().finally(() => (over = true));
    await caller;
  };
  for (const alert of ['TenancyGatewayGone', 'TenancyGatewayCannotDecide']) await silent(t, live, alert);

  await calling('/', () => fires(t, live, 'TenancyGatewayUpstreamFails'));
  await silent(t, live, 'TenancyGatewayUpstreamFails');

  files.use('soon');
  reload();
  await fires(t, live, 'TenancyGatewayCertificateExpires');
  files.use('expired');
  reload();
  await fires(t, live, 'TenancyGatewayReloadFailed');
  files.use('good');
  reload();
  await silent(t, live, 'TenancyGatewayReloadFailed');
  await silent(t, live, 'TenancyGatewayCertificateExpires');

  await readOnly(true);
  await calling('/', () => fires(t, live, 'TenancyGatewayRefusesForItself'));
  for (const alert of ['CannotDecide', 'LeaseRenewalsFail', 'UsageLags'])
    await fires(t, live, `TenancyGateway${alert}`);
  await readOnly(false);
  for (const alert of ['RefusesForItself', 'CannotDecide', 'LeaseRenewalsFail', 'UsageLags'])
    await silent(t, live, `TenancyGateway${alert}`);

  t.equal((await cli({ DATABASE_URL: server.url }, 'restored')).code, 0);
  await fires(t, live, 'TenancyGatewayStartedAnew');
  await silent(t, live, 'TenancyGatewayStartedAnew');

  await redis.stop();
  await fires(t, live, 'TenancyGatewaySharedCacheDown');
  await redis.start();
  await silent(t, live, 'TenancyGatewaySharedCacheDown');

  await program.kill('SIGTERM');
  await fires(t, live, 'TenancyGatewayGone');

  files.use('expired');
  const again = await startProcess(t, { ...env, INTERNAL_PORT: new URL(internalUrl).port });
  await silent(t, live, 'TenancyGatewayGone');
  await fires(t, live, 'TenancyGatewayCertificateExpired');
  files.use('good');
  again.program.child.kill('SIGHUP');
  await silent(t, live, 'TenancyGatewayCertificateExpired');
});

async function fires(t: Test, live: LivePrometheus, alert: string): Promise<void> {
  await live.becomes(alert, 'firing');
  t.pass(`${alert} fires`);
}

async function silent(t: Test, live: LivePrometheus, alert: string): Promise<void> {
  await live.becomes(alert, 'silent');
  t.pass(`${alert} is silent`);
}

/** A file whose upstream is verified by an authority that can be exchanged. */
function configuration(t: Test) {
  const folder = tempFolder(t);
  const path = (name: string): string => join(folder, name);
  writeFileSync(path('good'), certificate.a.cert);
  writeFileSync(path('expired'), certificate.expired.cert);
  writeFileSync(path('key'), certificate.a.key);
  const request = `req -x509 -new -key ${path('key')} -subj /CN=soon -days 7 -out ${path('soon')}`;
  execFileSync('openssl', request.split(' '), { stdio: 'ignore' });
  const use = (name: 'good' | 'soon' | 'expired'): void => copyFileSync(path(name), path('ca.crt'));
  use('good');
  const routes = [
    '{ prefix: /, upstream: "http://127.0.0.1:9" }',
    `{ prefix: /verified, upstream: "https://127.0.0.1:9", tls: { ca_file: "${path('ca.crt')}" } }`,
  ];
  writeFileSync(path('gateway.yaml'), `routes: [${routes.join(', ')}]`);
  return { config: path('gateway.yaml'), use };
}
