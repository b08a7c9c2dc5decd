// class: built
/** What a deleted customer was called: nowhere after the erasure, and never in the log. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import t, { type Test } from 'tap';
import type { AccountId } from '../../src/domain/ids.ts';
import { makeParents, type Parent } from '../support/apis.ts';
import { eventually } from '../support/eventually.ts';
import { httpClient, type Call, type CallOptions } from '../support/http-client.ts';
import { freshDatabase } from '../support/postgres.ts';
import { becomes, startProcess } from '../support/process.ts';
import { freshRedis } from '../support/redis.ts';
import { migrated, rawSql, storeAt, tablesWith } from '../support/store.ts';
import { startUpstream } from '../support/upstreams.ts';

const operatorToken = 'a-token-of-the-operator-of-this-test';
/** Is in every text that a customer can give; the agent is in the header `User-Agent` of all its requests. */
const [canary, agent] = ['canary', 'agent-of-the-customer'];
const texts = { name: canary, metadata: { [canary]: canary } };

async function start(t: Test) {
  const [database, redisUrl] = [await freshDatabase(t, migrated), await freshRedis(t)];
  const journals = t.testdir({});
  const upstream = await startUpstream(t);
  const gateway = await startProcess(t, {
    DATABASE_URL: database,
    REDIS_URL: redisUrl,
    UPSTREAM_URL: upstream.url,
    ADMIN_TOKEN: operatorToken,
    USAGE_JOURNAL_DIR: journals,
    LOG_LEVEL: 'trace',
  });
  await becomes(gateway.internalUrl, 200);
  const redis = new Redis(redisUrl);
  t.teardown(() => redis.disconnect());
  const store = storeAt(t, database);
  const internal = httpClient(t, gateway.internalUrl);
  const asCustomer = (call: Call): Call => {
    return (method, path, more: CallOptions = {}) =>
      call(method, path, { ...more, headers: { 'User-Agent': agent, ...(more.headers as object) } });
  };
  return {
    ...{ gateway, redis, store, internal, journals, sql: rawSql(t, database) },
    call: asCustomer(httpClient(t, gateway.url)),
    operator: asCustomer((method, path, more) =>
      internal(method, `/admin/v1${path}`, { key: operatorToken, ...more }),
    ),
  };
}

type World = Awaited<ReturnType<typeof start>>;

/**
 * Sends the calls of a customer's life, with the canary in each member that takes a text of its choice. Returns the
 * secrets that were minted.
 */
async function liveThrough({ call, operator }: World, parent: Parent): Promise<readonly string[]> {
  let times = 0;
  const secrets: string[] = [];
  const ok = async (by: Call, method: string, path: string, body: unknown, headers = {}) => {
    const {
      status,
      text,
      body: made,
    } = await by(method, path, {
      body,
      headers: { 'Idempotency-Key': `request-${(times += 1)}`, ...headers },
    });
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
    for (const name of ['api_key', 'client_secret']) if (name in made) secrets.push(String(made[name]));
    return made as { readonly id: string; readonly api_key: string };
  };
  const account = `/accounts/${parent.id}`;
  await ok(operator, 'PATCH', account, { ...texts, external_id: 'canary-parent' });
  const sub = await ok(parent.call, 'POST', '', { ...texts, external_id: 'canary-1' });
  await ok(parent.call, 'PUT', '/by-external-id/canary-2', texts);
  await parent.call('PUT', '/by-external-id/canary-2', { body: { name: 'canary'.repeat(100) } });
  await parent.call('GET', '?external_id=canary-1&q=canary&metadata[canary]=canary');
  await ok(parent.call, 'PATCH', `/${sub.id}`, { name: 'canary two', external_id: 'canary-3' });
  await ok(parent.call, 'PATCH', `/${sub.id}`, { external_id: 'canary-1' });
  await ok(parent.call, 'POST', `/${sub.id}/deactivate`, {});
  await ok(parent.call, 'POST', `/${sub.id}/reactivate`, {});
  const key = await ok(parent.call, 'POST', `/${sub.id}/api-keys`, { name: canary });
  await ok(parent.call, 'PATCH', `/${sub.id}/api-keys/${key.id}`, { name: 'canary two' });
  await ok(parent.call, 'POST', `/${sub.id}/api-keys/${key.id}/rotate`, { expires_in: 60 });
  const scopes = ['sub_accounts:read', 'sub_accounts:write'];
  const named = await ok(operator, 'POST', `${account}/api-keys`, { name: canary, scopes });
  const byNamed: Call = (method, path, more) => call(method, path, { key: named.api_key, ...more });
  await ok(byNamed, 'POST', '/v1/sub-accounts', { ...texts, external_id: 'canary-4' });
  await ok(operator, 'POST', `${account}/api-keys/import`, {
    keys: [null, sub.id].map((sub_account_id, i) => ({
      ...{ api_key: `a-key-of-another-system-${i}`, name: canary, sub_account_id },
    })),
  });
  await ok(operator, 'POST', '/sub-accounts/import', {
    sub_accounts: [{ account_external_id: 'canary-parent', external_id: 'canary-5', ...texts }],
  });
  await ok(operator, 'POST', '/api-keys/import', {
    keys: [{ account_external_id: 'canary-parent', api_key: 'a-key-of-another-system-2', name: canary }],
  });
  for (const acting of ['ext:canary-1', 'ext:canary-unknown', sub.id])
    await call('GET', '/shipments?of=canary', {
      key: parent.key,
      headers: { 'X-Service-Acting-Tenant': acting },
    });
  await operator('GET', '/accounts?external_id=canary-parent&q=canary');
  await operator('POST', '/explain', { body: { api_key: parent.key, acting: 'ext:canary-1' } });
  return secrets;
}

/** Every name and value in Redis. */
async function cached(redis: Redis): Promise<string> {
  const names = await redis.keys('*');
  const values = names.map(async (name) =>
    (await redis.type(name)) === 'hash' ? redis.hgetall(name) : redis.get(name),
  );
  return JSON.stringify([names, await Promise.all(values)]);
}

async function journalsOf({ journals }: World): Promise<string> {
  const files = await readdir(journals, { recursive: true, withFileTypes: true });
  const texts = files
    .filter((file) => file.isFile())
    .map(async (file) => readFile(join(file.parentPath, file.name), 'latin1'));
  return (await Promise.all(texts)).join('\n');
}

t.test('no log line ever has it, and after the erasure no table, cache, page or export has it', async (t) => {
  const world = await start(t);
  const { call, operator, internal, redis, store, gateway } = world;
  const parent = await makeParents(call, operator)();
  const secrets = [operatorToken, parent.key, ...(await liveThrough(world, parent))];
  await eventually(async () => (await cached(redis)).includes(canary));
  await t.test('a secret is in no key and no value of Redis, nor in log or metrics', async (t) => {
    t.equal(secrets.length, 2 + 3 * 2);
    const { text: metrics } = await internal('GET', '/metrics');
    for (const text of [await cached(redis), gateway.program.stdout + gateway.program.stderr, metrics])
      // Not even the part that is random, without its prefix.
      for (const secret of secrets) t.notOk(text.includes(secret.slice(secret.indexOf('_') + 6)));
  });
  t.same(
    await tablesWith(world.sql, canary),
    ['account', 'api_key', 'coherence_log', 'event', 'idempotency'],
    'everywhere before',
  );
  const usage = async (as = 'application/json') =>
    operator('GET', `/usage?account_id=${parent.id}&granularity=total&group_by=account`, {
      headers: { Accept: as },
    });
  const requests = async () => ((await usage()).body['data'] as { requests: number }[])[0]?.requests;
  await eventually(async () => (await requests()) === 2);

  t.match(await operator('POST', `/accounts/${parent.id}/suspend`), { status: 200 });
  t.match(await operator('DELETE', `/accounts/${parent.id}`), { status: 204 });
  await eventually(async () => {
    while ((await store.erasures.run({ settledMs: 0, most: 100 })) !== null);
    return (await store.erasures.get(parent.id as AccountId))?.erasedAt !== null;
  });

  await eventually(async () => !(await cached(redis)).includes(canary));
  t.same(await tablesWith(world.sql, canary), []);
  t.same(await tablesWith(world.sql, agent), []);
  t.notMatch(await cached(redis), agent);
  t.notMatch(await journalsOf(world), canary);
  t.equal(await requests(), 2, 'usage adds up as before');
  const csv = await usage('text/csv');
  t.match(csv, { status: 200, headers: { 'content-type': /^text\/csv/ } });
  t.match(csv.text, parent.id);
  t.notMatch(csv.text, canary);
  for (const path of ['/events', '/usage', '/accounts', '/api-keys', `/erasures/${parent.id}`, '/replicas']) {
    const { status, text } = await operator('GET', path);
    t.equal(status, 200, path);
    t.notMatch(text, canary, path);
  }
  const explained = await operator('POST', '/explain', { body: { api_key: parent.key } });
  t.notMatch(explained.text, canary);
  const { body } = await operator('GET', `/events?account_id=${parent.id}&limit=100`);
  const addresses = (body['data'] as { address: string | null; type: string }[]).map((row) => row.address);
  t.ok(
    addresses.length > 15 && addresses.every((address) => address === null),
    'nor has an event an address',
  );
  t.notMatch((await internal('GET', '/metrics')).text, canary);
  await eventually(() => gateway.program.log().length > 15);
  t.notMatch(gateway.program.stdout, canary);
  t.match(gateway.program.stdout, '/v1/sub-accounts/by-external-id/:external_id');
});
