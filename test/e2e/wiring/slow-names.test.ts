// class: real
/** The whole program, with PostgreSQL and Redis by name, on a machine whose name server does not answer for some names. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { operatorToken } from '../../support/apis.ts';
import { eventually } from '../../support/eventually.ts';
import { httpClient } from '../../support/http-client.ts';
import { nameServer, type Said } from '../../support/names.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { becomes, startProcess, tempFolder } from '../../support/process.ts';
import { redisClient, startRedis } from '../../support/redis.ts';
import { rawSql } from '../../support/store.ts';
import { startUpstream } from '../../support/upstreams.ts';

/** Only root may listen on port 53, and give a process another resolv.conf. */
const skip =
  spawnSync('unshare', ['--mount', 'true']).status === 0 ? false : 'needs root and unshare of util-linux';

t.test(
  '20 slow names on 20 routes: PostgreSQL, Redis and another upstream are unmoved',
  { skip },
  async (t) => {
    const found: Said = { addresses: ['127.0.0.1'], ttlS: 1 };
    const [host, port] = ['127.0.0.153', 53];
    const server = await nameServer(t, (question) => (question.includes('slow') ? null : found), {
      host,
      port,
    });
    const folder = tempFolder(t);
    const [conf, config] = [join(folder, 'resolv.conf'), join(folder, 'gateway.yaml')];
    writeFileSync(conf, `nameserver ${host}\noptions timeout:30 attempts:1\n`);
    const upstream = await startUpstream(t, (_request, response) =>
      response.writeHead(200, { connection: 'close' }).end(),
    );
    const names = Array.from({ length: 20 }, (_, i) => `slow${i}`);
    const routes = ['orders', ...names].map((name) => ({
      prefix: `/${name}`,
      upstream: `http://${name}.test:${upstream.port}`,
    }));
    writeFileSync(config, JSON.stringify({ routes }));
    const [database, redis] = [await freshDatabase(t), await startRedis(t)];
    const named = (url: string, name: string): string => Object.assign(new URL(url), { hostname: name }).href;
    const { url, internalUrl } = await startProcess(
      t,
      {
        CONFIG: config,
        DATABASE_URL: named(database, 'database.test'),
        REDIS_URL: named(redis.url, 'redis.test'),
        ADMIN_TOKEN: operatorToken,
      },
      undefined,
      ['unshare', '--mount', 'sh', '-c', `mount --bind ${conf} /etc/resolv.conf && exec "$0" "$@"`],
    );
    await becomes(internalUrl, 200);
    const operator = httpClient(t, internalUrl);
    const call = httpClient(t, url);
    const admin = { key: operatorToken };
    const account = await operator('POST', '/admin/v1/accounts', { ...admin, body: { name: 'A' } });
    const minted = await operator('POST', `/admin/v1/accounts/${String(account.body['id'])}/api-keys`, {
      ...admin,
      body: { name: 'k', scopes: ['sub_accounts:read', 'sub_accounts:write'] },
    });
    const key = String(minted.body['api_key']);

    let isOn = true;
    const load = names.map(async (name) => {
      while (isOn) await call('GET', `/${name}`, { key });
    });
    const asked = (name: string): number => server.asked.filter((each) => each === `A ${name}.test`).length;
    await eventually(() => names.every((name) => asked(name) > 0));
    for (let i = 0; i < 10; i++)
      t.equal((await call('GET', '/orders', { key })).status, 200, 'another upstream');

    const before = [asked('database'), asked('redis')];
    await rawSql(t, database)`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`;
    await redisClient(t, redis.url).call('CLIENT', 'KILL', 'TYPE', 'normal');
    await eventually(() => asked('database') > (before[0] ?? 0) && asked('redis') > (before[1] ?? 0));
    await becomes(internalUrl, 200);
    const connected = /^tenancy_gateway_shared_cache_connected(?:\{.*\})? 1$/m;
    await eventually(async () => connected.test(await (await fetch(`${internalUrl}/metrics`)).text()));
    const change = { key, body: { name: 'S', external_id: 's' } };
    t.equal((await call('POST', '/v1/sub-accounts', change)).status, 201, 'a change is enforced');
    t.match(
      await (await fetch(`${internalUrl}/metrics`)).text(),
      /name_lookup_seconds_count\{found="true"\} [1-9]/,
    );
    isOn = false;
    await Promise.all(load);
  },
);
