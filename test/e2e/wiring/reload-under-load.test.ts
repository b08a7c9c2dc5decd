// class: real
/** Reloads under a stream of requests, one after the other, and while the process ends. */
import { Agent } from 'node:http';
import t from 'tap';
import { goodConfig } from '../../support/config-files.ts';
import { collect } from '../../support/memory.ts';
import { eventually } from '../../support/eventually.ts';
import { get, named, start } from '../../support/reload.ts';

t.test(
  '20 reloads from one client of upstreams to the other and back: no request fails, all get there',
  async (t) => {
    const upstreams = [await named(t, 'a'), await named(t, 'b')] as const;
    const yaml = (i: number) =>
      `routes: [{ prefix: /, upstream: "${upstreams[i % 2]?.url}", client: ${['native', 'undici'][i % 2]} }]`;
    const { gateway, key, settings, origin } = await start(t, yaml(0));
    const configs = [goodConfig(settings(yaml(0))), goodConfig(settings(yaml(1)))] as const;
    let over = false;
    let answered = 0;
    const clients = Array.from({ length: 8 }, async (_, i) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      t.teardown(() => agent.destroy());
      const ports = new Set<number | undefined>();
      const odd: unknown[] = [];
      const bodies = new Set<string>();
      while (!over) {
        const { status, body, localPort } = await get(
          agent,
          `${origin}/${i}`,
          key,
          {},
          i % 2 === 0 ? '' : 'x'.repeat(i * 5_000),
        );
        if (status !== 200) odd.push({ status, body });
        ports.add(localPort);
        bodies.add(body);
        answered += 1;
      }
      return { odd, connections: ports.size, bodies: [...bodies].sort().join('') };
    });
    for (let i = 1; i <= 20; i++) {
      const until = answered + 40;
      await gateway.reload(configs[i % 2 === 0 ? 0 : 1]);
      await eventually(() => answered >= until, { everyMs: 1 });
    }
    over = true;
    for (const client of await Promise.all(clients))
      t.same(client, { odd: [], connections: 1, bodies: 'ab' });
    await eventually(() => upstreams[1].open() === 0);
  },
);

t.test('reloads called at once are done one after the other; the last one stays', async (t) => {
  const [a, b] = [await named(t, 'a'), await named(t, 'b')];
  const { gateway, key, settings, origin } = await start(t, `upstream_url: ${a.url}`);
  const [toA, toB] = [a, b].map(({ url }) => goodConfig(settings(`upstream_url: ${url}`)));
  if (toA === undefined || toB === undefined) throw new Error('two were made');
  const bad = { ...toA, migrate: !toA.migrate };
  const all = [toB, bad, toA, toB].map((config) => gateway.reload(config));
  const outcomes = (await Promise.allSettled(all)).map(({ status }) => status);
  t.same(outcomes, ['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
  t.equal((await get(new Agent(), `${origin}/x`, key)).body, 'b');
});

t.test('stopping while it reloads: both come to an end, and nothing is left open', async (t) => {
  const upstream = await named(t, 'it');
  const { gateway, key, settings, origin } = await start(t, `upstream_url: ${upstream.url}`);
  const config = goodConfig(settings(`upstream_url: ${upstream.url}`));
  await get(new Agent(), `${origin}/x`, key);
  const reloads = [gateway.reload(config), gateway.reload(config)];
  const stopped = gateway.stop();
  reloads.push(gateway.reload(config));
  const [outcomes] = await Promise.all([Promise.allSettled(reloads), stopped]);
  t.equal(outcomes.at(-1)?.status, 'rejected', 'a request that comes later is told');
  await eventually(() => upstream.open() === 0);
});

t.test('60 reloads, every other one refused half-way, leave nothing behind', async (t) => {
  const upstream = await named(t, 'it');
  const { gateway, key, settings, origin } = await start(t, `upstream_url: ${upstream.url}`);
  const good = goodConfig(settings(`upstream_url: ${upstream.url}`));
  // The first route's upstream is open by the time the second one turns out to be impossible.
  const [route] = good.routes;
  if (route === undefined) throw new Error('there is a route');
  const impossible = { ...route, prefix: '/x', tls: { ...route.tls, caFile: '/nowhere' } };
  const bad = { ...good, routes: [route, impossible] };
  const agent = new Agent({ keepAlive: true });
  t.teardown(() => agent.destroy());
  const reload = async (times: number): Promise<void> => {
    for (let i = 0; i < times; i++) {
      await gateway.reload(good);
      await get(agent, `${origin}/x`, key);
      await t.rejects(gateway.reload(bad), { code: 'ENOENT' });
    }
    await eventually(() => upstream.open() <= 1);
  };
  await reload(10);
  const before = usedAfterCollection();
  await reload(30);
  // What one reload makes is larger than what all of them may leave.
  await eventually(() => usedAfterCollection() - before < 2 * 1024 * 1024, { everyMs: 250 });
});

function usedAfterCollection(): number {
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}
