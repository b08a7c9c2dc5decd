// class: real
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { configFile } from '../../support/config-files.ts';
import { formatSecret, secretRandomBytes } from '../../../src/domain/api-key.ts';
import { eventually } from '../../support/eventually.ts';
import { operatorToken } from '../../support/apis.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { becomes, cli, startProcess, type GatewayProcess } from '../../support/process.ts';
import { migrated, rawSql } from '../../support/store.ts';
import { version } from '../../../src/wiring/version.ts';
import { startUpstream } from '../../support/upstreams.ts';

/** As the operator API shows it. */
interface Replica {
  readonly id: string;
  readonly self: boolean;
  readonly state: string;
  readonly lag: number;
  readonly applied: number;
  readonly lease_age_ms: number;
}

/** Long enough not to run out by itself where the machine has other things to do for a second or two. */
const leaseMs = 3_000;
const unknownKey = formatSecret('tgw', randomBytes(secretRandomBytes));
const databaseUrl = await freshDatabase(t, migrated);
const env = {
  DATABASE_URL: databaseUrl,
  UPSTREAM_URL: (await startUpstream(t)).url,
  ADMIN_TOKEN: operatorToken,
  COHERENCE_LEASE_MS: String(leaseMs),
  CONFIG: configFile(t, 'drain_delay_ms: 6000\n'),
  LOG_LEVEL: 'error',
};
const replicas = [
  await startProcess(t, env),
  await startProcess(t, env),
  await startProcess(t, env),
] as const;
await Promise.all(replicas.map(({ internalUrl }) => becomes(internalUrl, 200)));
const [first, second, third] = replicas;

async function operator(replica: GatewayProcess, method: string, path: string): Promise<Response> {
  return fetch(`${replica.internalUrl}/admin/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' },
    ...(path === '/accounts' && { body: '{"name":"A"}' }),
  });
}

async function shown(replica: GatewayProcess): Promise<readonly Replica[]> {
  return ((await (await operator(replica, 'GET', '/replicas')).json()) as { data: Replica[] }).data;
}

/** The id a replica goes by. */
async function idOf(replica: GatewayProcess): Promise<string> {
  return (await shown(replica)).find(({ self }) => self)?.id ?? 'none';
}

t.test('every replica is shown, by every replica, with its lease, position and version', async (t) => {
  const ids = await Promise.all(replicas.map(idOf));
  t.equal(new Set(ids).size, 3, 'each one knows which is itself');
  for (const replica of replicas) {
    let response: { readonly data: readonly Replica[] } = { data: [] };
    await eventually(async () => {
      response = (await (await operator(replica, 'GET', '/replicas')).json()) as typeof response;
      return response.data.every(({ state, lag }) => state === 'live' && lag === 0);
    });
    t.match(response, { position: Number, incarnation: /-/, complete: true });
    t.same(new Set(response.data.map(({ id }) => id)), new Set(ids));
    for (const row of response.data) {
      t.match(row, { state: 'live', lease_ms: leaseMs, version: version(), host: /./, lag: 0 });
      t.ok(row.lease_age_ms >= 0 && row.lease_age_ms <= leaseMs, `renewed ${row.lease_age_ms} ms ago`);
    }
  }
  t.equal((await fetch(`${first.internalUrl}/admin/v1/replicas`)).status, 401, 'for operators alone');
  t.equal((await operator(first, 'POST', '/replicas')).status, 405);
});

t.test('one that stands still is lapsed, goes away, and is back by itself', async (t) => {
  const id = await idOf(third);
  const row = async () => (await shown(first)).find((each) => each.id === id);
  third.program.child.kill('SIGSTOP');
  await eventually(async () => (await row())?.state === 'lapsed');
  t.match(await row(), { self: false, version: version() });
  await eventually(async () => (await row()) === undefined);
  t.pass('no write waits for it any more');
  third.program.child.kill('SIGCONT');
  await eventually(async () => (await row())?.state === 'live');
});

t.test('how far one is behind is shown while others wait for it', async (t) => {
  const sql = rawSql(t, databaseUrl);
  // A replica that renews and reads nothing.
  await sql`select replica_renew('behind', 'n', 60000, 0, '1.0.0', 'host', false, null, 1)`;
  const { id } = (await (await operator(first, 'POST', '/accounts')).json()) as { id: string };
  const suspended = operator(first, 'POST', `/accounts/${id}/suspend`);
  const row = async () => (await shown(first)).find((each) => each.id === 'behind');
  await eventually(async () => (await row())?.lag === 1);
  t.match(await row(), { state: 'live', applied: 0 });
  await eventually(async () => (await shown(first)).filter(({ lag }) => lag === 0).length === 3);
  await sql`delete from replica where id = 'behind'`;
  t.equal((await suspended).status, 200);
});

t.test('one that drains is leaving and decides on, and is gone when it ends', async (t) => {
  const id = await idOf(second);
  const ended = second.program.kill('SIGTERM');
  await eventually(async () => (await shown(first)).some((row) => row.id === id && row.state === 'leaving'));
  const unknown = await fetch(`${second.url}/x`, { headers: { authorization: `Bearer ${unknownKey}` } });
  t.equal(unknown.status, 401, 'which it would not say without a lease');
  t.equal(await ended, 0);
  t.notOk((await shown(first)).some((row) => row.id === id));
});

t.test('the command line shows them in a table', async (t) => {
  const sql = rawSql(t, databaseUrl);
  // One of an earlier version, which says less of itself, and one that was last heard of long ago.
  await sql`select replica_renew(id, 'n', 60000, 0, null, null, false, null, 1) from unnest(array['before', 'lost']) as id`;
  await sql`update replica set renewed_at = now() - interval '1 hour' where id = 'lost'`;
  const { stdout, code } = await cli(cliEnv(first), 'replicas');
  t.equal(code, 0);
  t.match(stdout, /REPLICA +HOST +STATE +RENEWED AGO +CLOCK +POSITION +BEHIND +VERSION/);
  t.match(
    stdout,
    new RegExp(
      `${await idOf(first)} \\(asked\\) +\\S+ +live +[0-3]\\.\\d s of 3 s +[+−]\\d\\.\\d s +1 +0 +\\d`,
    ),
  );
  t.match(stdout, /before +– +live +\d+\.\d s of 60 s +– +0 +1 +–/);
  t.match(stdout, /lost +– +lapsed +3\d{3}\.\d s of 60 s/);
  t.match(stdout, /A lapsed replica decides nothing/);
  t.match(stdout, /The newest position is 1\./);
  t.match(JSON.parse((await cli(cliEnv(first), '--json', 'replicas')).stdout), { position: 1, data: Array });
  await sql`delete from replica where id in ('before', 'lost')`;
});

function cliEnv(replica: GatewayProcess): Record<string, string> {
  return { INTERNAL_PORT: new URL(replica.internalUrl).port, ADMIN_TOKEN: operatorToken };
}
