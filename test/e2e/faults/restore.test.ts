// class: real
/**
 * The rehearsal of docs/backup.md: a backup is taken while gateways work, is brought back under them, and
 * `tenancy-gateway restored` makes it the truth.
 */
import { join } from 'node:path';
import t from 'tap';
import { makeParents, operatorClient, operatorToken, type Parent } from '../../support/apis.ts';
import { backupTools, dump, restore } from '../../support/backup.ts';
import { eventually } from '../../support/eventually.ts';
import { httpClient, type Call } from '../../support/http-client.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { becomes, cli, startProcess, tempFolder } from '../../support/process.ts';
import { freshRedis } from '../../support/redis.ts';
import { migrated, rawSql } from '../../support/store.ts';
import { startUpstream } from '../../support/upstreams.ts';
import { ask, keepAsking, keepCreating, type Probe } from './support/backup-load.ts';

const leaseMs = 1_000;
const noTools = 'NO RESTORE WAS REHEARSED: pg_dump and pg_restore are not installed (postgresql-client)';
if (backupTools === null) process.stderr.write(`${noTools}\n`);

t.test(
  'a backup brought back under running gateways decides alone once `restored` has returned',
  { skip: backupTools === null ? noTools : false },
  async (t) => {
    const databaseUrl = await freshDatabase(t, migrated);
    const env = {
      DATABASE_URL: databaseUrl,
      REDIS_URL: await freshRedis(t),
      UPSTREAM_URL: (await startUpstream(t)).url,
      ADMIN_TOKEN: operatorToken,
      COHERENCE_LEASE_MS: String(leaseMs),
      LOG_LEVEL: 'error',
    };
    const processes = [await startProcess(t, env), await startProcess(t, env), await startProcess(t, env)];
    await Promise.all(processes.map(({ internalUrl }) => becomes(internalUrl, 200)));
    const replicas = processes.map(({ url }) => httpClient(t, url));
    const [call, elsewhere] = replicas as [Call, Call, Call];
    const operator = operatorClient(t, processes[0]?.internalUrl ?? '');
    const newParent = makeParents(call, operator);

    // What the dump will hold.
    const [parent, other] = [await newParent(), await newParent()];
    const [a, b, c] = [
      await parent.create({ name: 'a' }),
      await parent.create({ name: 'b' }),
      await parent.create({ name: 'c', external_id: 'name' }),
    ];
    const [keyOfA, keyOfB, keyOfC] = [await a.mint(), await b.mint(), await mint(parent, c.id)];
    const revokedBefore = await mint(parent, c.id);
    await succeed(b.act('deactivate'), parent.call('POST', `/${c.id}/api-keys/${revokedBefore.id}/revoke`));

    // The dump is taken while there is work.
    const busy = keepCreating(elsewhere, parent);
    const file = join(tempFolder(t), 'backup');
    await eventually(() => busy.created.length > 5);
    await dump(databaseUrl, file);
    const dumped = busy.created.length;
    await eventually(() => busy.created.length > dumped + 5);

    // What happened after it.
    const [keyAfter, d] = [await a.mint(), await parent.create({ name: 'd' })];
    await succeed(
      parent.call('POST', `/${c.id}/api-keys/${keyOfC.id}/revoke`),
      a.act('deactivate'),
      b.act('reactivate'),
      operator('POST', `/accounts/${other.id}/suspend`),
      parent.call('PATCH', `/${c.id}`, { body: { external_id: null } }),
    );
    await succeed(parent.call('PATCH', `/${d.id}`, { body: { external_id: 'name' } }));
    await busy.stop();

    const revoked = '401 api_key_revoked';
    const probes: Probe[] = [
      { what: 'a key both know', key: parent.key, byDump: `200 ${parent.id}`, byLater: `200 ${parent.id}` },
      { what: 'deactivated after', key: keyOfA, byDump: `200 ${a.id}`, byLater: '403 account_deactivated' },
      { what: 'reactivated after', key: keyOfB, byDump: '403 account_deactivated', byLater: `200 ${b.id}` },
      { what: 'revoked after', key: keyOfC.key, byDump: `200 ${c.id}`, byLater: revoked },
      { what: 'revoked before', key: revokedBefore.key, byDump: revoked, byLater: revoked },
      {
        what: 'minted after',
        key: keyAfter,
        byDump: '401 invalid_api_key',
        byLater: '403 account_deactivated',
        mixed: `200 ${a.id}`,
      },
      {
        what: 'suspended after',
        key: other.key,
        byDump: `200 ${other.id}`,
        byLater: '403 account_suspended',
      },
      {
        what: 'moved name',
        key: parent.key,
        acting: 'ext:name',
        byDump: `200 ${c.id}`,
        byLater: `200 ${d.id}`,
        mixed: '403 acting_tenant_unknown',
      },
      {
        what: 'created after',
        key: parent.key,
        acting: d.id,
        byDump: '403 acting_tenant_unknown',
        byLater: `200 ${d.id}`,
      },
    ];
    await everywhere((replica) => decidesBy(replica, 'byLater'));

    // The dump comes back under load.
    const watch = keepAsking(replicas, probes);
    await eventually(() => watch.responses.length > 100);
    await restore(databaseUrl, file);
    const held = await subAccountsIn(databaseUrl, parent.id);
    const { code, stdout, stderr } = await cli(env, 'restored');
    watch.startOver();
    t.equal(code, 0, stderr);
    t.match(stdout, /Waiting 4\.4 s[^]*Done/);

    await everywhere(async (replica, i) => {
      await decidesBy(replica, 'byDump');
      for (const id of busy.created.concat([...held.keys()])) {
        const expected = {
          active: `200 ${id}`,
          deactivated: '403 acting_tenant_deactivated',
          none: '403 acting_tenant_unknown',
        };
        const response = await ask(replica, { key: parent.key, acting: id });
        if (response !== expected[held.get(id) ?? 'none'])
          t.fail(`replica ${i} responds ${response} for ${id}`);
      }
    });
    t.ok(held.size >= 5 && busy.created.some((id) => !held.has(id)), 'some of those created are in the dump');
    const after = watch.responses.length;
    await eventually(() => watch.responses.length > after + 200);
    const { during, since } = await watch.stop();

    // And it is enforced as ever.
    const fresh = await a.mint();
    await succeed(parent.call('POST', `/${c.id}/api-keys/${keyOfC.id}/revoke`));
    await everywhere(async (replica) =>
      t.equal(await ask(replica, { key: keyOfC.key }), '401 api_key_revoked'),
    );
    await everywhere(async (replica) => t.equal(await ask(replica, { key: fresh }), `200 ${a.id}`));
    await succeed(a.act('deactivate'));
    await everywhere(async (replica) =>
      t.equal(await ask(replica, { key: fresh }), '403 account_deactivated'),
    );

    t.same(
      during.filter(
        ({ probe: { byDump, byLater, mixed }, response }) =>
          ![byDump, byLater, mixed, '503 unavailable'].includes(response),
      ),
      [],
      'while it came back: by what was, by what was again, or not at all',
    );
    t.same(
      since.filter(({ probe, response }) => response !== probe.byDump),
      [],
      'after that by the dump alone',
    );
    t.comment(`${during.length} decisions while it came back, ${since.length} after that`);
    t.ok(
      processes.every(({ program }) => program.running),
      'no replica was restarted',
    );

    async function decidesBy(replica: Call, what: 'byDump' | 'byLater'): Promise<void> {
      for (const probe of probes) t.equal(await ask(replica, probe), probe[what], probe.what);
    }
    async function everywhere(work: (replica: Call, i: number) => unknown): Promise<void> {
      await Promise.all(replicas.map(work));
    }
  },
);

async function mint(parent: Parent, sub: string): Promise<{ readonly id: string; readonly key: string }> {
  const { body } = await parent.call('POST', `/${sub}/api-keys`, { body: { name: 'k' } });
  return { id: String(body['id']), key: String(body['api_key']) };
}

async function succeed(...calls: readonly Promise<{ readonly status: number; readonly text: string }>[]) {
  for (const { status, text } of await Promise.all(calls)) if (status !== 200) throw new Error(text);
}

/** The sub-accounts of a parent as the database has them. */
async function subAccountsIn(url: string, parent: string): Promise<Map<string, 'active' | 'deactivated'>> {
  const sql = rawSql(t, url);
  const rows = await sql<{ id: string; status: 'active' | 'deactivated' }[]>`
    select id, status from account where parent_id = ${parent}`;
  return new Map(rows.map(({ id, status }) => [id, status]));
}
