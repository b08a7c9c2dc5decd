/** What a deleted customer was called: nowhere after the erasure, and never in the log. */
import { Redis } from 'ioredis';
import t from 'tap';
import { openPostgres } from '../../src/adapters/postgres/store.ts';
import type { AccountId } from '../../src/domain/ids.ts';
import { makeParents } from '../support/apis.ts';
import { eventually } from '../support/eventually.ts';
import { httpClient, type Call } from '../support/http-client.ts';
import { freshDatabase } from '../support/postgres.ts';
import { becomes, startProcess } from '../support/process.ts';
import { freshRedis } from '../support/redis.ts';
import { migrated } from '../support/store.ts';
import { startUpstream } from '../support/upstreams.ts';

const operatorToken = 'a-token-of-the-operator-of-this-test';

t.test('no log line ever has it, and after the erasure neither Redis nor a page has it', async (t) => {
  const [database, redisUrl] = [await freshDatabase(t, migrated), await freshRedis(t)];
  const upstream = await startUpstream(t);
  const gateway = await startProcess(t, {
    DATABASE_URL: database,
    REDIS_URL: redisUrl,
    UPSTREAM_URL: upstream.url,
    ADMIN_TOKEN: operatorToken,
    LOG_LEVEL: 'trace',
  });
  await becomes(gateway.internalUrl, 200);
  const call = httpClient(t, gateway.url);
  const internal = httpClient(t, gateway.internalUrl);
  const operator: Call = (method, path, more) =>
    internal(method, `/admin/v1${path}`, { key: operatorToken, ...more });
  const parent = await makeParents(call, operator)();
  const texts = { name: 'canary', metadata: { canary: 'canary' } };
  await operator('PATCH', `/accounts/${parent.id}`, { body: { ...texts, external_id: 'canary-parent' } });
  const sub = await parent.create({ ...texts, external_id: 'canary-1' });
  await parent.call('PUT', '/by-external-id/canary-2', { body: texts });
  await parent.call('PUT', '/by-external-id/canary-2', { body: { name: 'x'.repeat(300) } });
  await parent.call('GET', '?external_id=canary-1&q=canary');
  await parent.call('POST', `/${sub.id}/api-keys`, { body: { name: 'canary' } });
  for (const acting of ['ext:canary-1', 'ext:canary-unknown', sub.id])
    await call('GET', '/shipments', { key: parent.key, headers: [['X-Service-Acting-Tenant', acting]] });
  const redis = new Redis(redisUrl);
  t.teardown(() => redis.disconnect());
  const cached = async (): Promise<string> => {
    const names = await redis.keys('*');
    const values = await Promise.all(names.map((name) => redis.get(name).catch(() => '')));
    return JSON.stringify([names, values]);
  };
  await eventually(async () => (await cached()).includes('canary'));

  t.match(await operator('POST', `/accounts/${parent.id}/suspend`), { status: 200 });
  t.match(await operator('DELETE', `/accounts/${parent.id}`), { status: 204 });
  const store = openPostgres({ url: database, maxConnections: 4 });
  t.teardown(() => store.close());
  await eventually(async () => {
    while ((await store.erasures.run({ settledMs: 0, most: 100 })) !== null);
    return (await store.erasures.get(parent.id as AccountId))?.erasedAt !== null;
  });

  await eventually(async () => !(await cached()).includes('canary'));
  for (const path of ['/events', '/usage', '/accounts', '/api-keys', `/erasures/${parent.id}`, '/replicas']) {
    const { status, text } = await operator('GET', path);
    t.equal(status, 200, path);
    t.notMatch(text, 'canary', path);
  }
  const { text: metrics } = await internal('GET', '/metrics');
  t.notMatch(metrics, 'canary');
  await eventually(() => gateway.program.log().length > 15);
  t.notMatch(gateway.program.stdout, 'canary');
  t.match(gateway.program.stdout, '/v1/sub-accounts/by-external-id/:external_id');
});
