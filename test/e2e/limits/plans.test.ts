// class: night
/**
 * A plan that 12,000 accounts have, over three gateways as processes of their own and under load: its change is one change, and
 * from its 2xx on no replica goes by the old limit for any of them. TEST_PLAN_ACCOUNTS says how many accounts there are.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { operatorToken } from '../../support/apis.ts';
import { eventually } from '../../support/eventually.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { becomes, startProcess } from '../../support/process.ts';
import { freshRedis } from '../../support/redis.ts';
import { migrated, rawSql } from '../../support/store.ts';
import { startUpstream } from '../../support/upstreams.ts';
import { ReplicaLoad, type Tenant } from './support/replica-load.ts';

const accounts = Number(process.env['TEST_PLAN_ACCOUNTS'] ?? 12_000);
const busy = 8;
const aSecond = 12;
const [high, low] = [1_000, 1];

const keyOf = (i: number): string => `key-of-a-busy-customer-${i}`;

async function start(t: Test) {
  const upstream = await startUpstream(t);
  const url = await freshDatabase(t, migrated);
  const env = {
    DATABASE_URL: url,
    REDIS_URL: await freshRedis(t),
    UPSTREAM_URL: upstream.url,
    ADMIN_TOKEN: operatorToken,
    LOG_LEVEL: 'error',
  };
  const replicas = [await startProcess(t, env), await startProcess(t, env), await startProcess(t, env)];
  for (const { internalUrl } of replicas) await becomes(internalUrl, 200);
  const call = async (method: string, path: string, body: object): Promise<Response> => {
    const response = await fetch(`${replicas[0]?.internalUrl}/admin/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return response;
  };
  const put = (limits: object): Promise<Response> => call('PUT', '/plans/gold', { limits });
  await put({ requests_per_second: high });
  const customers = Array.from({ length: accounts }, (_, i) => `customer-${i}`);
  for (let from = 0; from < accounts; from += 250)
    await call('POST', '/accounts/import', {
      accounts: customers.slice(from, from + 250).map((name) => ({ external_id: name, name, plan: 'gold' })),
    });
  await call('POST', '/api-keys/import', {
    keys: customers
      .slice(0, busy)
      .map((name, i) => ({ account_external_id: name, api_key: keyOf(i), name: 'key' })),
  });
  return { sql: rawSql(t, url), urls: replicas.map((replica) => replica.url), put };
}

t.test(
  'from the 2xx of a change of a plan on, three gateways keep the new limit for all its accounts',
  { timeout: 600_000 },
  async (t) => {
    const { sql, urls, put } = await start(t);
    const tenants: Tenant[] = Array.from({ length: busy }, (_, i) => ({
      ...{ name: `customer-${i}`, key: keyOf(i), perSecond: aSecond },
    }));
    const load = new ReplicaLoad(urls, tenants);
    t.teardown(() => load.stop());
    load.parts = [1 / 3, 1 / 3, 1 / 3];
    await eventually(async () =>
      tenants.every((tenant) =>
        urls.every((_, replica) =>
          load.sent.some((one) => one.tenant === tenant && one.replica === replica && one.status === 200),
        ),
      ),
    );
    t.same(
      load.sent.filter(({ status }) => status === 429),
      [],
      'nobody is refused before',
    );

    const [before] = await sql<[{ events: number; position: number }]>`
      select (select count(*)::int from event) as events, (select max(seq)::int from coherence_taken) as position`;
    const beganMs = load.nowMs;
    const response = await put({ requests_per_second: low });
    const fromMs = load.nowMs;
    console.log(
      `2xx of the change after ${Math.round(fromMs - beganMs)} ms; ${response.headers.get('x-service-enforced')}; ${accounts} accounts`,
    );
    await sleep(6_000);
    const toMs = load.nowMs;

    const seconds = (toMs - fromMs) / 1_000;
    const most = 1.02 * (low * seconds + low) + urls.length;
    const its = load.sent.filter(({ atMs }) => atMs >= fromMs && atMs <= toMs);
    const admitted = tenants.map(
      (tenant) => its.filter((one) => one.tenant === tenant && one.status === 200).length,
    );
    console.log(`of ${its.length} requests after it ${admitted.reduce((a, b) => a + b)} passed`);
    t.same(
      admitted.filter((count) => count > most),
      [],
      `each at most ${most.toFixed(1)}`,
    );
    t.ok(its.length > 2 * most * busy, 'more were sent than may pass');

    const logged = await sql`select key from coherence_log where seq > ${before.position}`;
    t.same(logged, [{ key: 'p:gold' }], 'one entry of the log');
    const [{ events }] = await sql<[{ events: number }]>`select count(*)::int as events from event`;
    t.equal(events, before.events + 1, 'one event');

    await put({ requests_per_second: high });
    const raisedMs = load.nowMs;
    await sleep(3_000);
    const late = load.sent.filter(({ atMs, status }) => atMs >= raisedMs + 500 && status === 429);
    t.same(late, [], 'raised: nobody is refused any more');

    const quotaMs = load.nowMs;
    const quota = await put({ requests_per_second: high, requests_per_day: 1_000_000 });
    console.log(
      `2xx of a new quota after ${Math.round(load.nowMs - quotaMs)} ms; ${quota.headers.get('x-service-enforced')}`,
    );
    const resized = load.nowMs;
    await put({ requests_per_second: high, requests_per_day: 2_000_000 });
    console.log(`2xx of another quota after ${Math.round(load.nowMs - resized)} ms`);
    await sleep(1_000);
    t.same(
      load.sent.filter(({ atMs, status }) => atMs >= quotaMs && status === 429),
      [],
      'quotas that are not reached refuse nobody',
    );
  },
);
