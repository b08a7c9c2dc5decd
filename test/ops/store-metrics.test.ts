// class: app
import { Registry } from 'prom-client';
import t from 'tap';
import { poolMetrics, statementTimes } from '../../src/ops/store-metrics.ts';
import { systemClock } from '../../src/ports/clock.ts';
import { createParent, freshStore } from '../support/store.ts';
import { eventually } from '../support/eventually.ts';

t.test(
  'each call of the store is timed under its name, those that fail too, and works as before',
  async (t) => {
    const registry = new Registry();
    const { store } = await freshStore(t);
    const timed = statementTimes(registry, systemClock);
    const tenants = timed('tenants', store.tenants);
    const log = timed('log', store.log);
    t.notMatch(await registry.metrics(), /_count\{/, 'what was not called has no series');

    const { id } = await createParent(tenants);
    t.equal((await tenants.getParent(id))?.id, id);
    await tenants.getParent(id);
    const reading = await log.readAfter(null, 10);
    t.ok(reading.seq >= 0, 'a method that calls another one of its port finds it');
    await store.close();
    await t.rejects(tenants.getParent(id));

    const text = await registry.metrics();
    const counts = [...text.matchAll(/_count\{statement="([^"]+)"\} (\d+)/g)].map(([, name, count]) => [
      name,
      count,
    ]);
    t.same(counts, [
      ['tenants.createParent', '1'],
      ['tenants.getParent', '3'],
      ['log.readAfter', '1'],
    ]);
  },
);

t.test('connections in use and statements that wait are shown', async (t) => {
  const registry = new Registry();
  const { store } = await freshStore(t);
  poolMetrics(registry, store.pool);
  const shown = async (name: string): Promise<number> =>
    Number(new RegExp(`^tenancy_gateway_store_${name} (\\d+)$`, 'm').exec(await registry.metrics())?.[1]);
  t.equal(await shown('connections_in_use'), 0);
  t.equal(await shown('connections_max'), 3, 'but for the one of the lease');
  const all = Array.from({ length: 20 }, () => store.tenants.listParents({}, { limit: 1 }));
  t.ok((await shown('connections_in_use')) >= 1);
  t.ok((await shown('statements_waiting')) >= 10);
  await Promise.all(all);
  await eventually(async () => (await shown('connections_in_use')) === 0);
  t.equal(await shown('statements_waiting'), 0);
});
