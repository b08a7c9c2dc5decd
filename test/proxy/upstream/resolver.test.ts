// class: pure
/** How the addresses of a host name are found: the hosts file, search domains, `ndots`, both families, and limits. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { systemTimers, type Timers } from '../../../src/ports/timers.ts';
import { resolver } from '../../../src/proxy/upstream/resolver.ts';
import { ManualTime } from '../../support/coherence/manual-time.ts';
import { eventually } from '../../support/eventually.ts';
import { nameServer, type Said } from '../../support/names.ts';

interface World {
  readonly hosts?: string;
  readonly conf?: string;
  readonly zone?: Readonly<Record<string, Said | Promise<Said>>>;
  readonly timers?: Timers;
  /** Whether a name server that says nothing comes first. */
  readonly afterSilent?: boolean;
}

/** Resolves by a name server with these records; other names do not exist. */
async function resolving(
  t: Test,
  { hosts = '', conf = '', zone = {}, timers = systemTimers, afterSilent = false }: World,
) {
  const folder = t.testdir({});
  const [hostsFile, resolvConf] = [join(folder, 'hosts'), join(folder, 'resolv.conf')];
  await Promise.all([writeFile(hostsFile, hosts), writeFile(resolvConf, conf)]);
  const server = await nameServer(t, (question) => {
    const key = question in zone ? question : question.replace(/^\w+ /, '');
    return key in zone ? (zone[key] as Said | Promise<Said>) : 'none';
  });
  const silent = await nameServer(t, () => null);
  const servers = [...(afterSilent ? [silent.address] : []), server.address];
  const resolve = resolver(timers, hostsFile, resolvConf, servers);
  /** The addresses, in order, or the code of the failure. */
  const find = (host: string): Promise<string> =>
    resolve(host).then(
      ({ families, ttlMs }) =>
        `${families
          .flat()
          .map(({ address }) => address)
          .join(' ')} for ${ttlMs} ms`,
      (error: Error & { code?: string }) => error.code ?? error.message,
    );
  return { find, asked: server.asked, askedInVain: silent.asked, hostsFile, resolvConf };
}

const one: Said = { addresses: ['192.0.2.1'], ttlS: 5 };
const cluster = 'nameserver 192.0.2.53\nsearch shop.svc.cluster.local svc.cluster.local\noptions ndots:5\n';

for (const [what, { conf, host, asked }] of Object.entries({
  'no search domain': { conf: '', host: 'a.test', asked: ['a.test'] },
  'a short name in a cluster': {
    conf: cluster,
    host: 'orders',
    asked: ['orders.shop.svc.cluster.local', 'orders.svc.cluster.local', 'orders'],
  },
  'a name of a Service with its namespace': {
    conf: cluster,
    host: 'orders.shop',
    asked: ['orders.shop.shop.svc.cluster.local', 'orders.shop.svc.cluster.local', 'orders.shop'],
  },
  'as many dots as ndots': {
    conf: cluster,
    host: 'a.b.c.d.e.test',
    asked: ['a.b.c.d.e.test', 'a.b.c.d.e.test.shop.svc.cluster.local', 'a.b.c.d.e.test.svc.cluster.local'],
  },
  'an absolute name': { conf: cluster, host: 'a.test.', asked: ['a.test'] },
  'one dot, without ndots': { conf: 'domain b.test', host: 'a.test', asked: ['a.test', 'a.test.b.test'] },
  'no dot, without ndots': { conf: 'domain b.test', host: 'a', asked: ['a.b.test', 'a'] },
  'ndots:0, as in Docker': {
    conf: 'search b.test\noptions edns0 ndots:0',
    host: 'a',
    asked: ['a', 'a.b.test'],
  },
  'the last of two lines': {
    conf: 'search b.test\ndomain c.test\n# search d.test',
    host: 'a',
    asked: ['a.c.test', 'a'],
  },
  'search . of systemd': { conf: 'search .', host: 'a.test', asked: ['a.test', 'a.test'] },
}))
  t.test(`names to ask for: ${what}`, async (t) => {
    const world = await resolving(t, { conf });
    t.equal(await world.find(host), 'ENOTFOUND');
    t.same(
      world.asked.filter((each) => each.startsWith('A ')).map((each) => each.slice(2)),
      asked,
    );
  });

t.test('the first name that exists is taken', async (t) => {
  const { find, asked } = await resolving(t, {
    conf: cluster,
    zone: { 'orders.svc.cluster.local': one, orders: { addresses: ['192.0.2.66'], ttlS: 5 } },
  });
  t.equal(await find('orders'), '192.0.2.1 for 5000 ms');
  t.notOk(asked.includes('A orders'));
});

t.test(
  'a server that cannot tell ends the search: a later domain may have another host of that name',
  async (t) => {
    const { find } = await resolving(t, {
      conf: cluster,
      zone: { 'orders.shop.svc.cluster.local': 'failed', 'orders.svc.cluster.local': one },
    });
    t.match(await find('orders'), 'ESERVFAIL');
  },
);

t.test('both families, IPv6 first, and the shortest TTL; one suffices', async (t) => {
  const { find } = await resolving(t, {
    zone: {
      'A both.test': { addresses: ['192.0.2.1', '192.0.2.2'], ttlS: 60 },
      'AAAA both.test': { addresses: ['2001:db8:0:0:0:0:0:1'], ttlS: 7 },
      'AAAA six.test': { addresses: ['2001:db8:0:0:0:0:0:1'], ttlS: 7 },
      'A four.test': one,
      'AAAA four.test': 'failed',
      'many.test': { addresses: Array.from({ length: 80 }, (_, i) => `192.0.2.${i}`), ttlS: 1 },
    },
  });
  t.equal(await find('both.test'), '2001:db8::1 192.0.2.1 192.0.2.2 for 7000 ms');
  t.equal(await find('six.test'), '2001:db8::1 for 7000 ms');
  t.equal(await find('four.test'), '192.0.2.1 for 5000 ms');
  t.match(await find('many.test'), /^(192\.0\.2\.\d+ ){64}for/, 'no more are remembered');
});

t.test('who ignores questions for IPv6 costs half a second; who says nothing, ten', async (t) => {
  const time = new ManualTime();
  const zone = { 'A four.test': one, 'AAAA four.test': null, 'silent.test': null };
  const { find, asked } = await resolving(t, { zone, timers: time.timers });
  let found = '';
  void find('four.test').then((answer) => (found = answer));
  await eventually(() => time.waiting === 2);
  await time.advance(499);
  t.equal(found, '');
  await time.advance(1);
  await eventually(() => found !== '');
  t.equal(found, '192.0.2.1 for 5000 ms');
  let failed = '';
  void find('silent.test').then((answer) => (failed = answer));
  await eventually(() => asked.includes('A silent.test'));
  await time.advance(9_999);
  t.equal(failed, '');
  await time.advance(1);
  await eventually(() => failed !== '');
  t.match(failed, 'in time');
  t.equal(time.waiting, 0);
});

t.test('the hosts file comes first, and is read anew', async (t) => {
  const { find, asked, hostsFile } = await resolving(t, {
    hosts:
      '# 192.0.2.8 a.test\n127.0.0.1\tlocalhost\n192.0.2.7  A.test b.test # c.test\n2001:db8::7 b.test\nnothing c.test\n',
    zone: { 'c.test': one },
  });
  t.equal(await find('a.test'), '192.0.2.7 for 0 ms');
  t.equal(await find('b.test'), '2001:db8::7 192.0.2.7 for 0 ms');
  t.equal(await find('localhost'), '127.0.0.1 for 0 ms');
  t.equal(await find('shop.localhost'), '::1 127.0.0.1 for 0 ms');
  t.same(asked, []);
  t.equal(await find('c.test'), '192.0.2.1 for 5000 ms');
  await writeFile(hostsFile, '192.0.2.9 c.test');
  t.equal(await find('c.test'), '192.0.2.9 for 0 ms');
});

t.test('a name server that says nothing is waited for once, until resolv.conf changes', async (t) => {
  const zone = { 'a.test': one, 'b.test': one, 'c.test': one };
  const { find, askedInVain, resolvConf } = await resolving(t, { zone, afterSilent: true });
  t.equal(await find('a.test'), '192.0.2.1 for 5000 ms');
  t.same(askedInVain.splice(0).sort(), ['A a.test', 'AAAA a.test']);
  t.same(await Promise.all([find('b.test'), find('b.test')]), Array(2).fill('192.0.2.1 for 5000 ms'));
  t.same(askedInVain, []);
  await writeFile(resolvConf, '# changed');
  void find('c.test');
  await eventually(() => askedInVain.includes('A c.test'));
});

t.test('a look-up that takes too long ends no other', async (t) => {
  const time = new ManualTime();
  let answer = (_: Said): void => undefined;
  const slow = new Promise<Said>((resolve) => (answer = resolve));
  const { find, asked } = await resolving(t, {
    zone: { 'silent.test': null, 'slow.test': slow },
    timers: time.timers,
  });
  const silent = find('silent.test');
  await eventually(() => time.waiting === 1);
  await time.advance(9_999);
  const found = find('slow.test');
  await eventually(() => asked.includes('A slow.test'));
  await time.advance(1);
  t.match(await silent, 'in time');
  answer(one);
  t.equal(await found, '192.0.2.1 for 5000 ms');
});
