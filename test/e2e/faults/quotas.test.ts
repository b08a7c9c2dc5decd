// class: night
/** Quotas that three replicas keep under load: set meanwhile, and in a PostgreSQL far away. */
import t, { type Test } from 'tap';
import { Random } from '../../support/coherence/random.ts';
import { eventually } from '../../support/eventually.ts';
import { startPostgres } from '../../support/postgres.ts';
import { startRedis } from '../../support/redis.ts';
import { History } from './support/history.ts';
import { useUp, useUpFarAway, ways, type QuotaParts } from './support/quotas.ts';
import { Replica } from './support/replica.ts';
import { Tenants } from './support/tenants.ts';
import { startUpstream } from './support/upstream.ts';

t.test('a quota set under load counts all that came before it', async (t) => {
  const parts = await start(t);
  for (const left of [2_000, 0])
    for (const way of ways) {
      await eventually(() => useUp(parts, { way, loadMs: 3_000, left }), { limitMs: 600_000 });
      nothingWrong(t, parts, `${way}, ${left} left`);
    }
});

t.test('with PostgreSQL 40 ms away quota_exceeded comes when all is used, and not before', async (t) => {
  const parts = await start(t);
  for (const quota of [100, 500, 2_000]) {
    await eventually(() => useUpFarAway(parts, 'by the day of a parent', quota), { limitMs: 600_000 });
    nothingWrong(t, parts, `${quota}`);
  }
});

function nothingWrong(t: Test, { history }: QuotaParts, what: string): void {
  t.same(history.over, [], `at most a thousandth and one a replica more: ${what}`);
  t.same(history.early, [], 'nobody was refused with room');
}

async function start(t: Test): Promise<QuotaParts> {
  const [postgres, redis] = [await startPostgres(t), await startRedis(t)];
  const urls = { postgresUrl: postgres.url, redisUrl: redis.url, upstreamUrl: await startUpstream(t) };
  const replicas = await Promise.all(
    ['one', 'two', 'three'].map((name) => Replica.make(t, name, { ...urls, leaseMs: 1_000 })),
  );
  const [stopped, history] = [() => false, new History()];
  return { replicas, tenants: new Tenants(replicas, new Random(1), stopped), history, stopped };
}
