// class: built
import t from 'tap';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { operatorToken } from '../../support/apis.ts';
import { installed, readPage } from '../../support/docs.ts';
import { eventually } from '../../support/eventually.ts';
import { httpClient } from '../../support/http-client.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { becomes, cli, startProcess } from '../../support/process.ts';
import { parentOf } from '../../support/reload.ts';
import { fromRunner } from '../../support/servers.ts';
import { rawSql } from '../../support/store.ts';
import { startUpstream } from '../../support/upstreams.ts';

const root = new URL('../../../', import.meta.url);
const page = readPage('operating.md');

/** Commands of a section, in their order. */
function commandsOf(title: string): string[] {
  const [, section = ''] = page.split(`\n## ${title}\n`);
  return [...section.split('\n## ')[0]!.matchAll(/^( *)```sh\n([^]*?)^ *```$/gm)].map(
    ([, indent = '', text = '']) => text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  );
}

t.test('the runbook of a leaked key works, word for word', async (t) => {
  const databaseUrl = await freshDatabase(t);
  const upstream = await startUpstream(t);
  const { url, internalUrl, env, program } = await startProcess(t, {
    DATABASE_URL: databaseUrl,
    UPSTREAM_URL: upstream.url,
    ADMIN_TOKEN: operatorToken,
  });
  await becomes(internalUrl, 200);
  const call = httpClient(t, url);
  const parent = await parentOf(t, url, internalUrl);
  const { key } = parent;
  const sub = await parent.create({ name: 'Ada' });
  const leaked = (await call('POST', `/v1/sub-accounts/${sub.id}/api-keys`, { key, body: { name: 'shop' } }))
    .body as { id: string; api_key: string };
  t.equal((await call('GET', '/before', { key: leaked.api_key })).status, 200);

  const { folder: bin, PATH } = installed(t);
  const variables: Record<string, string> = {
    ...env,
    PATH: [PATH, fromRunner('TEST_POSTGRES_BIN')].join(delimiter),
    NO_COLOR: '1',
    GATEWAY_URL: url,
    LOG: join(bin, 'log'),
    KEY_FILE: join(bin, 'key'),
    PREFIX: leaked.api_key.slice(0, 8),
    LAST4: leaked.api_key.slice(-4),
  };
  const run = (command: string | undefined): string =>
    execFileSync('sh', ['-ec', command ?? 'exit 99'], { env: variables, encoding: 'utf8', stdio: 'pipe' });
  const [find, findByKey, show, revoke, revokeAll, explain, log, usage, ...more] =
    commandsOf('A key has leaked');
  t.same(more, []);

  writeFileSync(variables['KEY_FILE'] ?? '', `${leaked.api_key}\n`);
  for (const command of [find, findByKey])
    t.match(run(command), new RegExp(`^${leaked.id} +shop +tgw_.+active +Ada +Parent`, 'm'));
  Object.assign(variables, { KEY_ID: leaked.id, PARENT_ID: parent.id });
  t.match(run(show), new RegExp(`sub-account +${sub.id} +Ada[^]*parent +${parent.id} +Parent`));
  t.match(run(revoke), /is revoked/);
  const refused = await call('GET', '/after', { key: leaked.api_key });
  t.equal(refused.status, 401);
  t.match(run(explain), /refused, 401 api_key_revoked/);

  // What the key did before, and what it was refused afterwards.
  await eventually(() => program.log().filter(({ key_id: id }) => id === leaked.id).length === 2);
  writeFileSync(variables['LOG'] ?? '', program.stdout);
  const lines = run(log)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  t.match(lines, [
    { path: '/before', tenant: sub.id, status: 200, request_id: String },
    { path: '/after', status: 401, code: 'api_key_revoked', request_id: String },
  ]);
  await eventually(() => run(usage).includes(leaked.id));

  Object.assign(variables, { ACCOUNT_ID: parent.id });
  t.match(run(revokeAll), /revoked, 1 of them/);
  t.equal((await call('GET', '/x', { key })).status, 401);
  Object.assign(variables, { KEY_ID: parent.keyId });
  t.match(run(revoke), /is revoked/);
});

t.test('what holds an old snapshot is found as the page says', async (t) => {
  const databaseUrl = await freshDatabase(t);
  const [find, ...more] = commandsOf('Alerts');
  t.same(more, []);
  await rawSql(t, databaseUrl).begin('isolation level repeatable read', async (dump) => {
    await dump`set local application_name = 'pg_dump'`;
    const [{ pid }] = await dump<[{ pid: number }]>`select pg_backend_pid() as pid`;
    const shown = execFileSync('sh', ['-ec', find ?? 'exit 99'], {
      env: {
        DATABASE_URL: databaseUrl,
        PATH: [fromRunner('TEST_POSTGRES_BIN'), process.env['PATH']].join(delimiter),
      },
      encoding: 'utf8',
    });
    t.match(shown, new RegExp(`session +\\| ${pid} +\\| postgres +\\| pg_dump `));
  });
});

t.test('commands of the command line and of the project are as the page says', async (t) => {
  const databaseUrl = await freshDatabase(t);
  const env = { DATABASE_URL: databaseUrl };
  const [migrate] = commandsOf('Upgrade and roll back');
  t.equal((await cli(env, ...(migrate?.trim().split(' ').slice(1) ?? []))).code, 0);

  const { stdout: help } = await cli({}, '--help');
  for (const [, command = ''] of page.matchAll(/`(?:.* -- )?tenancy-gateway (?:--json )?([a-z]+)/g))
    t.match(help, new RegExp(`^ +${command}\\b`, 'm'), command);
  const { scripts } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
    scripts: Record<string, string>;
  };
  for (const [, script = ''] of page.matchAll(/npm run ([a-z:-]+)/g)) t.ok(script in scripts, script);
});

t.test('metrics and keys of the configuration that the page names are there', async (t) => {
  const config = readPage('configuration.md');
  const paths = ['coherence', 'database', 'limits', 'log', 'redis', 'route_defaults'].join('|');
  const keys = [
    ...page.matchAll(new RegExp(`\`((?:${paths})\\.[a-z0-9_]+|drain(?:_delay)?_ms|trusted_proxies)`, 'g')),
  ];
  t.ok(keys.length > 10);
  for (const [, key = ''] of keys) t.ok(config.includes(`\`${key}\``), key);

  const dashboard = readFileSync(new URL('helm/tenancy-gateway/files/dashboard.json', root), 'utf8');
  const metrics = [...page.matchAll(/`([a-z]+(?:_[a-z0-9]+)*_(?:total|seconds|breaker))(?:\{[^`]*\})?`/g)];
  t.ok(metrics.length > 5);
  for (const [, metric = ''] of metrics) t.ok(dashboard.includes(metric), metric);
});
