// class: real
/** Keys expire by the database's clock: gateways as processes, whose wall clocks are hours apart. */
import t from 'tap';
import { Random } from '../../support/coherence/random.ts';
import { eventually } from '../../support/eventually.ts';
import { startPostgres } from '../../support/postgres.ts';
import { startRedis } from '../../support/redis.ts';
import { rawSql } from '../../support/store.ts';
import { startUpstream } from '../../support/upstreams.ts';
import { Replica } from './support/replica.ts';
import { Tenants } from './support/tenants.ts';

const hourMs = 3_600_000;

t.test(
  'a key expires on every replica at the same time, though their wall clocks are 2 h apart',
  async (t) => {
    const [postgres, redis, upstream] = [await startPostgres(t), await startRedis(t), await startUpstream(t)];
    const surroundings = {
      postgresUrl: postgres.url,
      redisUrl: redis.url,
      upstreamUrl: upstream.url,
      leaseMs: 1_000,
    };
    const aheads = [hourMs, 0, -hourMs];
    const replicas: Replica[] = [];
    for (const clockAheadMs of aheads) {
      const replica = await Replica.make(t, `${clockAheadMs} ms ahead`, { ...surroundings, clockAheadMs });
      await replica.ready();
      replicas.push(replica);
    }
    const sql = rawSql(t, postgres.url);
    const tenants = new Tenants(replicas, new Random(1), () => false);
    const parent = await tenants.createParent();
    const sub = await tenants.createSubAccount(parent);
    const ask = async (key: string): Promise<(number | undefined)[]> =>
      Promise.all(replicas.map(async ({ client }) => (await client.send('GET', '/x', { key }))?.status));

    for (const [i, { client }] of replicas.entries()) {
      const expiresAt = new Date(Date.now() + hourMs / 2).toISOString();
      const made = await client.send('POST', `/v1/sub-accounts/${sub}/api-keys`, {
        key: parent.key,
        body: { name: 'k', expires_at: expiresAt },
      });
      t.equal(made?.status, 201, `an expiry in the future, through ${replicas[i]?.name}`);
      const key = String(made?.body['api_key']);
      t.same(await ask(key), [200, 200, 200], 'also on a replica for whose clock it has expired');
      await sql`update api_key set expires_at = now() where id = ${String(made?.body['id'])}`;
      await eventually(async () => (await ask(key)).every((status) => status === 401));
    }

    const list = await replicas[0]?.operator.send('GET', '/admin/v1/replicas');
    const offsets = (list?.body['data'] as { clock_offset_ms: number }[]).map(
      ({ clock_offset_ms: ms }) => ms,
    );
    t.same(offsets.map((ms) => Math.round(ms / hourMs)).sort(), [-1, 0, 1], 'and operators see it');
  },
);
