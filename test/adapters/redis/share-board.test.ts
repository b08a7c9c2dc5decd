import t from 'tap';
import { Redis } from 'ioredis';
import { redisShareBoard } from '../../../src/adapters/redis/share-board.ts';
import { parseRedisAddress } from '../../../src/config/redis/redis-address.ts';
import type { LimitReport } from '../../../src/ports/limits/share-board.ts';
import { shareBoardContract } from '../../contract/share-board.ts';
import { eventually } from '../../support/eventually.ts';
import { freshRedis, startRedis } from '../../support/redis.ts';
import type { Scope } from '../../support/servers.ts';

const report: LimitReport = { limit: 'parent:a', series: 1, used: 1, demand: 1, level: 1, share: 1 };

function open(t: Scope, url: string) {
  const address = parseRedisAddress(url);
  if (address === undefined) throw new Error(url);
  const troubles: string[] = [];
  /** What is to happen when the wait for an exchange is over, which is when the test says so: this machine may be slow. */
  const waits = new Set<() => void>();
  const board = redisShareBoard({
    address,
    timers: {
      after: (_ms, task) => {
        waits.add(task);
        return () => void waits.delete(task);
      },
    },
    onTrouble: (code) => troubles.push(code),
  });
  t.teardown(() => board.close());
  const works = () =>
    eventually(() =>
      board.exchange('a', [report]).then(
        () => true,
        () => false,
      ),
    );
  return { board, troubles, works, waits };
}

t.test('Redis', async (t) => {
  const { board, works } = open(t, await freshRedis(t));
  await works();
  await shareBoardContract(t, board);
});

t.test('reports expire, and what is no report is passed over', async (t) => {
  const url = await freshRedis(t);
  const { board, works } = open(t, url);
  await works();
  const redis = new Redis(url);
  t.teardown(() => redis.disconnect());
  t.same(await redis.keys('*'), ['tg:limit:parent:a']);
  const ttl = await redis.pttl('tg:limit:parent:a');
  t.ok(ttl > 0 && ttl <= 120_000);
  await redis.hset('tg:limit:parent:a', {
    b: '1 1 5 1 1 1',
    c: `${Date.now()} nonsense`,
    d: `${Date.now()} 1 2 3 4 5`,
  });
  const { peers } = await board.exchange('a', [report]);
  t.same(
    peers.map(({ replica }) => replica),
    ['d'],
    'b is too old, c says nothing',
  );
  t.same(await redis.hkeys('tg:limit:parent:a').then((keys) => keys.sort()), ['a', 'c', 'd']);
});

t.test('what no replica wrote costs nothing, and is deleted', async (t) => {
  const url = await freshRedis(t);
  const { board, works } = open(t, url);
  await works();
  const redis = new Redis(url);
  t.teardown(() => redis.disconnect());
  const other = { ...report, limit: 'parent:b' };
  await redis.hset('tg:limit:parent:a', {
    x: 'junk',
    y: '',
    z: '9'.repeat(400),
    later: `${Date.now() * 2} 1 1 1 1 1`,
  });
  t.same((await board.exchange('a', [report, other])).peers, []);
  t.same(await redis.hkeys('tg:limit:parent:a'), ['a']);
  for (const spoil of [
    () => redis.set('tg:limit:parent:a', 'x'),
    () => redis.lpush('tg:limit:parent:a', 'x'),
    () => redis.zadd('tg:limit:parent:a', 1, 'x'),
  ]) {
    await redis.del('tg:limit:parent:a');
    await spoil();
    t.match(await board.exchange('a', [report, other]), { peers: [], unheard: new Set() });
    t.equal((await board.exchange('b', [report])).peers.length, 1);
  }
});

t.test('a limit whose server is gone is told apart; the others are exchanged', async (t) => {
  const server = await startRedis(t, { 'cluster-enabled': 'yes', 'cluster-announce-ip': '127.0.0.1' });
  const admin = new Redis(server.url);
  t.teardown(() => admin.disconnect());
  await admin.cluster('ADDSLOTSRANGE', 0, 16383);
  const { board, works, troubles } = open(t, server.url.replace('redis:', 'redis+cluster:'));
  await works();
  const limits = Array.from({ length: 20 }, (_, i) => ({ ...report, limit: `parent:${i}` }));
  t.same((await board.exchange('a', limits)).unheard, new Set());
  // As of a part of the cluster that was lost.
  await admin.config('SET', 'cluster-require-full-coverage', 'no');
  const lost = limits[3]?.limit ?? '';
  await admin.cluster('DELSLOTS', await admin.cluster('KEYSLOT', `tg:limit:${lost}`));
  const { unheard, peers, nowMs } = await board.exchange('b', limits);
  t.same(unheard, new Set([lost]));
  t.equal(peers.length, limits.length - 1);
  t.ok(Math.abs(nowMs - Date.now()) < 60_000);
  t.same(troubles, ['CLUSTERDOWN']);
  await t.rejects(board.exchange('b', [{ ...report, limit: lost }]), 'there is no other');
});

t.test('a Redis that forgets the script, or everything, is told again', async (t) => {
  const url = await freshRedis(t);
  const { board, works } = open(t, url);
  await works();
  const redis = new Redis(url);
  t.teardown(() => redis.disconnect());
  await redis.script('FLUSH');
  await redis.flushall();
  t.same((await board.exchange('a', [report])).peers, []);
  t.equal((await board.exchange('b', [report])).peers.length, 1);
});

t.test(
  'a Redis that is frozen costs a short wait, one that is gone none, and both are used again',
  async (t) => {
    const server = await startRedis(t);
    const { board, troubles, works, waits } = open(t, server.url);
    await works();
    await server.pause();
    const frozen = board.exchange('a', [report]);
    t.equal(waits.size, 1);
    for (const isOver of waits) isOver();
    await t.rejects(frozen, { message: 'Redis cannot be used for limits' });
    t.same(troubles, ['ETIMEDOUT']);
    await server.resume();
    await works();
    await server.kill();
    await t.rejects(board.exchange('a', [report]));
    await t.rejects(board.exchange('a', []));
  },
);
