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
  },
);
