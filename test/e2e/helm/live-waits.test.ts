// class: night
/**
 * The chart's alerts about waiting, against a live Prometheus that scrapes a real gateway: requests wait for connections of a route,
 * changes wait for replicas that hang, and the database keeps dead rows for an old snapshot.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { operatorToken } from '../../support/apis.ts';
import { withoutPrometheus } from '../../support/chart-tools.ts';
import { startPrometheus, type LivePrometheus } from '../../support/live-prometheus.ts';
import { startPostgres } from '../../support/postgres.ts';
import { httpClient } from '../../support/http-client.ts';
import { becomes, startProcess, tempFolder } from '../../support/process.ts';
import { parentOf } from '../../support/reload.ts';
import { rawSql } from '../../support/store.ts';
import { startUpstream } from '../../support/upstreams.ts';

t.test('alerts about waiting fire and are silent again', { skip: withoutPrometheus }, async (t) => {
  const server = await startPostgres(t);
  // Of two connections a tenant may hold one.
  const slow = await startUpstream(t, (_request, response) => void setTimeout(() => response.end(), 250));
  const CONFIG = join(tempFolder(t), 'gateway.yaml');
  writeFileSync(CONFIG, `routes: [{ prefix: /, upstream: "${slow.url}", connections: 2 }]`);
  const env = {
    CONFIG,
    DATABASE_URL: server.url,
    ADMIN_TOKEN: operatorToken,
    COHERENCE_LEASE_MS: '1000',
  };
  const { url, internalUrl } = await startProcess(t, env);
  const live = await startPrometheus(t, internalUrl);
  await becomes(internalUrl, 200);
  const { key } = await parentOf(t, url, internalUrl);
  await live.becomes('TenancyGatewayGone', 'silent');

  await rawSql(t, server.url).begin('isolation level repeatable read', async (dump) => {
    // A session that is idle in a transaction would be ended.
    await firesUntil(live, 'TenancyGatewayOldSnapshot', () => dump`select pg_sleep(1) from account limit 1`);
    t.pass('an old snapshot fires');
  });

  const ask = async (): Promise<void> => {
    const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
    await response.text();
  };
  await firesUntil(live, 'TenancyGatewayRequestsQueue', () => Promise.all([ask(), ask(), ask(), ask()]));
  t.pass('requests that wait for connections fire');
  await live.becomes('TenancyGatewayRequestsQueue', 'silent');
  await live.becomes('TenancyGatewayOldSnapshot', 'silent');

  const others = [await startProcess(t, env), await startProcess(t, env)];
  await Promise.all(others.map((other) => becomes(other.internalUrl, 200)));
  const operator = httpClient(t, internalUrl);
  const post = (path: string, body: object) =>
    operator('POST', `/admin/v1/accounts${path}`, { key: operatorToken, body });
  const { body } = await post('', { name: 'Changing' });
  const { id } = body as { readonly id: string };
  await firesUntil(live, 'TenancyGatewayChangesWait', async () => {
    for (const { program } of others) program.child.kill('SIGSTOP');
    await post(`/${id}/suspend`, {});
    for (const { program } of others) program.child.kill('SIGCONT');
    await Promise.all(others.map((other) => becomes(other.internalUrl, 200)));
    await post(`/${id}/resume`, {});
  });
  t.pass('changes that wait for replicas that hang fire');
  await live.becomes('TenancyGatewayChangesWait', 'silent');
  t.pass('all of them are silent again');
});

/** Does that again and again until the alert fires. */
async function firesUntil(
  live: LivePrometheus,
  alert: string,
  provoke: () => Promise<unknown>,
): Promise<void> {
  let over = false;
  const provoking = (async () => {
    while (!over) await provoke();
  })();
  await Promise.race([provoking, live.becomes(alert, 'firing')]).finally(() => (over = true));
  await provoking;
}
