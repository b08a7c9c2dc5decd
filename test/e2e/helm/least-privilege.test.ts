// class: chart
import t from 'tap';
import { randomBytes } from 'node:crypto';
import postgres from 'postgres';
import { operatorToken } from '../../support/apis.ts';
import { readText } from '../../support/helm.ts';
import { httpClient } from '../../support/http-client.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { becomes, cli, startProcess } from '../../support/process.ts';
import { parentOf } from '../../support/reload.ts';

t.test(
  'with the rights that docs/kubernetes.md grants, the gateway does all its work and changes no table',
  async (t) => {
    const suffix = randomBytes(6).toString('hex');
    const [owner, runtime] = [`owner_${suffix}`, `runtime_${suffix}`];
    // Roles belong to the server, so they go after the database does.
    t.teardown(() =>
      asSuperuser(process.env['TEST_POSTGRES_URL'] ?? '', `drop role ${owner}; drop role ${runtime}`),
    );
    const url = await freshDatabase(t);
    const [, documented = ''] = /```sql\n([^]*?)```/.exec(readText('docs/kubernetes.md')) ?? [];
    t.match(documented, /CREATE ROLE gateway_owner/);
    await asSuperuser(
      url,
      documented
        .replaceAll(/\bgateway_owner\b/g, owner)
        .replaceAll(/\bgateway\b/g, runtime)
        .replaceAll("'...'", "'secret'"),
    );

    const migrated = await cli({ DATABASE_URL: as(owner, url) }, 'migrate');
    t.equal(migrated.code, 0, migrated.stderr);

    const gateway = await startProcess(t, {
      DATABASE_URL: as(runtime, url),
      MIGRATE: 'off',
      ADMIN_TOKEN: operatorToken,
      UPSTREAM_URL: 'http://127.0.0.1:9',
    });
    await becomes(gateway.internalUrl, 200);
    const { id, key } = await parentOf(t, gateway.url, gateway.internalUrl);
    const call = httpClient(t, gateway.url);
    const calls: [string, string, unknown, number][] = [
      ['POST', '/v1/sub-accounts', { name: 'Ada', external_id: 'ada' }, 201],
      ['GET', '/v1/sub-accounts', undefined, 200],
      ['GET', '/v1/sub-accounts/usage', undefined, 200],
      ['GET', '/anything', undefined, 502],
    ];
    for (const [method, path, body, status] of calls)
      t.equal((await call(method, path, { key, body })).status, status, `${method} ${path}`);
    const [sub] = (await call('GET', '/v1/sub-accounts', { key })).body['data'] as {
      id: string;
    }[];
    for (const [path, body] of [
      ['api-keys', { name: 'k', scopes: [] }],
      ['deactivate', {}],
      ['reactivate', {}],
    ] as const)
      t.match(
        (await call('POST', `/v1/sub-accounts/${sub?.id}/${path}`, { key, body })).status,
        /20[01]/,
        path,
      );
    const suspended = await cli(gateway.env, 'accounts', 'suspend', id);
    t.equal(suspended.code, 0, suspended.stderr);
    t.equal(await gateway.program.kill('SIGTERM'), 0, 'and its usage was stored');
    t.notMatch(gateway.program.stdout, /permission denied/);

    const rejected = await cli({ DATABASE_URL: as(runtime, await freshDatabase(t)) }, 'migrate');
    t.not(rejected.code, 0, 'it cannot make tables');
  },
);

function as(role: string, url: string): string {
  const changed = new URL(url);
  changed.username = role;
  changed.password = 'secret';
  return changed.href;
}

async function asSuperuser(url: string, statements: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  await sql.unsafe(statements).simple();
  await sql.end();
}
