// class: built
import t from 'tap';
import { freshDatabase, startPostgres } from '../../support/postgres.ts';
import { becomes, cli, readiness, startProcess } from '../../support/process.ts';

const UPSTREAM_URL = 'http://127.0.0.1:9';

t.test('PostgreSQL away at the start: it listens, is live and unready, and recovers by itself', async (t) => {
  const server = await startPostgres(t);
  await server.stop();
  const { program, url, internalUrl } = await startProcess(t, { DATABASE_URL: server.url, UPSTREAM_URL });
  await becomes(internalUrl, 503, 'starting');
  t.equal((await fetch(`${internalUrl}/livez`)).status, 200);
  const refused = await fetch(`${url}/v1/shipments`, {
    headers: { authorization: 'Bearer tgw_0YzHNzcLGvuqI2WnXT8om15aTnQDlgoiK27LRHZ' },
  });
  t.equal(refused.status, 503, 'never 401, never open');
  t.match(await refused.json(), { code: 'unavailable' });
  t.ok(refused.headers.get('retry-after'));

  await t.test('without ADMIN_TOKEN the operator API is off, and the log says so', async (t) => {
    t.equal((await fetch(`${internalUrl}/admin/v1/accounts`)).status, 404);
    t.ok(program.log().some(({ msg }) => String(msg).includes('operator API is off')));
  });

  await server.start();
  await becomes(internalUrl, 200);
  t.equal((await fetch(`${url}/v1/shipments`)).status, 401);

  await server.kill();
  await becomes(internalUrl, 503, 'lease_lapsed');
  await server.start();
  await becomes(internalUrl, 200);
  t.ok(program.running);
});

t.test('MIGRATE=off leaves the tables to the command line', async (t) => {
  const DATABASE_URL = await freshDatabase(t);
  const env = { DATABASE_URL, UPSTREAM_URL, MIGRATE: 'off', ADMIN_TOKEN: 'token' };
  const { internalUrl } = await startProcess(t, env);
  await becomes(internalUrl, 503, 'migrations_pending');

  const migrated = await cli({ DATABASE_URL }, 'migrate');
  t.equal(migrated.code, 0, migrated.stderr);
  t.match(migrated.stdout, /Done: version \d+/);
  await becomes(internalUrl, 200);

  t.match(JSON.parse((await cli({ DATABASE_URL }, 'migrate', '--json')).stdout), { steps: [] });
  t.equal((await readiness(internalUrl))?.status, 200);
});

t.test('the command line says what to do where there is no gateway or no database', async (t) => {
  const away = await cli({ ADMIN_TOKEN: 'token', INTERNAL_PORT: '9' }, 'accounts', 'list');
  t.equal(away.code, 69);
  t.match(away.stderr, /cannot be reached at http:\/\/127\.0\.0\.1:9[^]*Is it running\?/);
  const noDatabase = await cli({ DATABASE_URL: 'postgres://u:hunter2@127.0.0.1:9/x' }, 'migrate');
  t.equal(noDatabase.code, 69);
  t.notMatch(noDatabase.stderr, 'hunter2');
});
