// class: pure
/** Whose connections they are: what tenants have of the connections to one upstream, and in which order they get them. */
import fc from 'fast-check';
import type { Socket } from 'node:net';
import t from 'tap';
import type { AccountId } from '../../../src/domain/ids.ts';
import { TenantConcurrency } from '../../../src/limits/concurrency.ts';
import { Shares, type Share } from '../../../src/limits/shares.ts';
import { eventually } from '../../support/eventually.ts';
import { ask, openConnections as open, rawResponse } from '../../support/upstream-client.ts';
import { startTcpUpstream } from '../../support/upstreams.ts';

/** An upstream that holds every request until it is told to respond. */
async function holding(t: Parameters<typeof startTcpUpstream>[0]) {
  const held = new Map<string, Socket>();
  const order: string[] = [];
  const upstream = await startTcpUpstream(t, (socket, head) => {
    const target = head.split(' ')[1] ?? '';
    held.set(target, socket);
    order.push(target);
  });
  const respond = (target: string): void => void held.get(target)?.write(rawResponse('ok'));
  return { upstream, held, order, respond };
}

t.test('a connection that carried a request of one tenant never carries one of another', async (t) => {
  const carried = new Map<Socket, Set<string>>();
  const upstream = await startTcpUpstream(t, (socket, head) => {
    const tenants = carried.get(socket) ?? new Set();
    carried.set(socket, tenants.add(head.split(' ')[1] ?? ''));
    setImmediate(() => socket.write(rawResponse('ok')));
  });
  for (const most of [1, 2, 3, 8]) {
    const { connections } = open(t, upstream.url, { most });
    const tenants = ['a', 'b', 'c', 'd', 'e'];
    for (let round = 0; round < 20; round++) {
      await Promise.all(tenants.map((tenant) => ask(connections, `/${tenant}`, null, { tenant })));
    }
    connections.close();
  }
  t.ok([...carried.values()].every(({ size }) => size === 1));
});

t.test('an idle connection is put by for its tenant, until another needs its place', async (t) => {
  const closed: string[] = [];
  const upstream = await startTcpUpstream(t, (socket, head) => {
    socket.once('close', () => closed.push(head.split(' ')[1] ?? ''));
    socket.write(rawResponse('ok'));
  });
  const { connections } = open(t, upstream.url, { most: 3 });
  for (const tenant of ['a', 'b', 'c', 'a', 'b', 'c', 'a']) {
    await ask(connections, `/${tenant}`, null, { tenant });
  }
  t.equal(upstream.connections, 3, 'one each');
  await ask(connections, '/d', null, { tenant: 'd' });
  await eventually(() => closed.length > 0);
  t.equal(upstream.connections, 4);
  t.ok(
    closed.every((target) => target === '/b'),
    'the one that was idle for longest made room',
  );
});

t.test('callers of one tenant have connections of their own, and one share of them', async (t) => {
  const carried = new Map<Socket, Set<string>>();
  const upstream = await startTcpUpstream(t, (socket, head) => {
    const callers = carried.get(socket) ?? new Set();
    carried.set(socket, callers.add(head.split(' ')[1] ?? ''));
    setImmediate(() => socket.write(rawResponse('ok')));
  });
  const shares = new Shares();
  const { connections } = open(t, upstream.url, { most: 4, shares });
  for (let round = 0; round < 20; round++) {
    const both = ['child', 'parent', 'child', 'parent'].map((caller) =>
      ask(connections, `/${caller}`, null, { tenant: 'child', parent: 'parent', caller }),
    );
    t.equal(shares.taken, 2, 'half of them, whoever calls');
    await Promise.all(both);
  }
  t.ok([...carried.values()].every(({ size }) => size === 1));
});

t.test('a connection is not used again after a request without a tenant', async (t) => {
  const upstream = await startTcpUpstream(t, (socket) => socket.write(rawResponse('ok')));
  const { connections } = open(t, upstream.url);
  for (let i = 0; i < 3; i++) await ask(connections, '/', null, { tenant: null });
  await ask(connections);
  t.equal(upstream.connections, 4);
});

t.test('one tenant holds half of them, the next half of the rest; others still find some', async (t) => {
  const { upstream, held, respond } = await holding(t);
  const { connections } = open(t, upstream.url, { most: 16 });
  const asking: Promise<unknown>[] = [];
  const many = (tenant: string): void => {
    for (let i = 0; i < 20; i++) {
      asking.push(ask(connections, `/${tenant}${i}`, null, { tenant }).catch(() => undefined));
    }
  };
  const of = (tenant: string): number => [...held.keys()].filter((target) => target[1] === tenant).length;
  for (const [tenant, share] of [
    ['a', 8],
    ['b', 4],
    ['c', 2],
    ['d', 1],
    ['e', 1],
  ] as const) {
    many(tenant);
    await eventually(() => of(tenant) === share);
  }
  // What was to come for them would have come before this.
  const marker = ask(open(t, upstream.url).connections, '/marker');
  await eventually(() => held.has('/marker'));
  respond('/marker');
  await marker;
  t.strictSame(['a', 'b', 'c', 'd', 'e'].map(of), [8, 4, 2, 1, 1]);
  connections.close();
  await Promise.all(asking);
});

t.test('tenants that wait are served in turn, however many requests each of them has', async (t) => {
  const { upstream, order, respond } = await holding(t);
  const { connections } = open(t, upstream.url, { most: 1 });
  const first = ask(connections, '/first');
  await eventually(() => order.length === 1);
  const targets = ['/a1', '/a2', '/a3', '/a4', '/b1', '/b2', '/c1'];
  const waiting = targets.map((target) => ask(connections, target, null, { tenant: target[1] ?? '' }));
  for (let i = 0; i <= waiting.length; i++) {
    await eventually(() => order.length > i);
    respond(order[i] ?? '');
  }
  await Promise.all([first, ...waiting]);
  t.strictSame(order.slice(1), ['/a1', '/b1', '/c1', '/a2', '/b2', '/a3', '/a4']);
});

t.test('a thousand requests that are not sent after all leave room for the next', async (t) => {
  const upstream = await startTcpUpstream(t, (socket) => socket.write(rawResponse('ok')));
  const { connections } = open(t, upstream.url, { most: 1 });
  let asked = 0;
  const sending = (): boolean => ++asked < 0;
  for (let i = 0; i < 1_000; i++) void ask(connections, '/', null, { sending });
  t.equal(await ask(connections, '/', null, { tenant: 'b' }), 'ok');
  await eventually(() => asked === 1_000);
  t.equal(await ask(connections), 'ok');
});

t.test('a reload gives no tenant more, and what waits is served whichever side gives back', async (t) => {
  const { upstream, held, respond } = await holding(t);
  const shares = new Shares();
  const before = open(t, upstream.url, { most: 4, shares }).connections;
  const asking = ['/a1', '/a2'].map((target) => ask(before, target));
  await eventually(() => held.size === 2);
  const after = open(t, upstream.url, { most: 4, shares }).connections;
  const third = ask(after, '/a3');
  asking.push(ask(after, '/b1', null, { tenant: 'b' }));
  await eventually(() => held.has('/b1'));
  t.notOk(held.has('/a3'), 'the tenant has its half in the generation before');
  respond('/b1');
  respond('/a1');
  await eventually(() => held.has('/a3'));
  for (const target of ['/a2', '/a3']) respond(target);
  await Promise.all([...asking, third]);
  before.close();
  after.close();
  t.equal(shares.taken, 0);
  t.ok(shares.unused);
});

t.test('open requests hold all units of their route, one network half of what is left', (t) => {
  const shares = new Shares(undefined, true);
  const [first, second, third] = ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((resolvedTenant) =>
    shares.use({ resolvedTenant, parentTenant: null }),
  ) as [Share, Share, Share];
  while (shares.hasRoom(first, 16)) shares.take(first);
  t.equal(first.held, 8);
  while (shares.hasRoom(second, 16)) shares.take(second);
  t.equal(second.held, 2);
  while (shares.taken < 16) shares.take(first);
  shares.giveBack(first);
  t.ok(shares.hasRoom(third, 16), 'a network that holds nothing gets the last unit');
  t.end();
});

t.test('what is shared is that of a route with one upstream, and forgotten when neither is left', (t) => {
  const concurrency = new TenantConcurrency({ inFlightPerTenant: 1, maxConnections: 10 });
  const route = { prefix: '/', upstream: 'http://a', open: null };
  const kept = concurrency.sharesOf(route);
  const pool = { serveWaiting: () => undefined };
  kept.connections.join(pool);
  t.not(concurrency.sharesOf({ ...route, upstream: 'http://b' }), kept);
  t.equal(concurrency.sharesOf(route), kept);
  kept.connections.quit(pool);
  concurrency.sharesOf({ ...route, upstream: 'http://c' });
  t.not(concurrency.sharesOf(route), kept);
  t.end();
});

t.test('tenants never exceed their shares, and one without any finds what is left', (t) => {
  const step = fc.record({ tenant: fc.nat(8), takes: fc.boolean() });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 60 }), fc.array(step), (most, steps) => {
      const shares = new Shares();
      // Tenants 0 to 2 are of one parent, 3 to 5 of the next, and so on.
      const all = Array.from({ length: 9 }, (_, i) =>
        shares.use({
          resolvedTenant: String(i),
          parentTenant: String(i - (i % 3)) as AccountId,
        }),
      );
      for (const { tenant, takes } of steps) {
        const share = all[tenant] as (typeof all)[number];
        if (!takes && share.held > 0) shares.giveBack(share);
        const left = most - shares.taken;
        const room = shares.hasRoom(share, most);
        if (share.parent.held === 0 && room !== left >= 1) return false;
        if (takes && room) {
          shares.take(share);
          if (share.held > Math.max(1, most / 2)) return false;
          if (share.parent.held > Math.max(1, (3 / 4) * most)) return false;
        }
        const held = all.reduce((sum, each) => sum + each.held, 0);
        if (held !== shares.taken || shares.taken > most) return false;
      }
      return true;
    }),
  );
  t.end();
});

t.test('a parent with many sub-accounts holds three quarters, one of them alone half', (t) => {
  for (const most of [4, 16, 256]) {
    const shares = new Shares();
    const one = (tenant: string, parent: string): boolean => {
      const share = shares.use({
        resolvedTenant: tenant,
        parentTenant: parent as AccountId,
      });
      const room = shares.hasRoom(share, most);
      if (room) shares.take(share);
      return room;
    };
    const many = (parent: string, name: (i: number) => string): number =>
      Array.from({ length: 2 * most }, (_, i) => one(name(i), parent)).filter(Boolean).length;
    t.equal(
      many('p', () => 'alone'),
      most / 2,
    );
    t.equal(
      many('p', (i) => `p${i}`),
      most / 4,
    );
    t.equal(
      many('q', () => 'q'),
      Math.max(1, most / 8),
      'another parent finds half of the rest',
    );
  }
  t.end();
});

t.test('requests without a key hold an eighth, a network two thirds of it, at least one', (t) => {
  for (const [most, part] of [
    [1, 1],
    [4, 1],
    [24, 2],
    [256, 21],
  ] as const) {
    const shares = new Shares();
    const share = shares.use({ resolvedTenant: '192.0.2.1', parentTenant: null });
    while (shares.hasRoom(share, most)) shares.take(share);
    t.equal(share.held, part);
    const other = shares.use({ resolvedTenant: '192.0.2.2', parentTenant: null });
    while (shares.hasRoom(other, most)) shares.take(other);
    t.equal(
      shares.taken,
      Math.max(1, Math.min(most / 8, part + Math.max(1, Math.floor((2 * (most / 8 - part)) / 3)))),
    );
  }
  t.end();
});
