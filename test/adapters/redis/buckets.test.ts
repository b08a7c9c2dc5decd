// class: real
import t from 'tap';
import { redisBuckets } from '../../../src/adapters/redis/buckets.ts';
import { parseRedisAddress } from '../../../src/config/redis/redis-address.ts';
import type { TokenQuestion } from '../../../src/ports/limits/token-store.ts';
import { bucketContract, bucketQuestion } from '../../contract/buckets.ts';
import { eventually } from '../../support/eventually.ts';
import { freshRedis, redisClient, startRedis } from '../../support/redis.ts';
import type { Scope } from '../../support/servers.ts';

const question = bucketQuestion('parent:a', 10, 0.001);

/** The history of a database, and how keys show it. */
const history = '0198c9a4-0000-4000-8000-000000000001';
const prefix = 'tg:bucket:0198c9a4:';

async function open(t: Scope, url: string, of: string | null = history) {
  const address = parseRedisAddress(url);
  if (address === undefined) throw new Error(url);
  const troubles: string[] = [];
  const store = redisBuckets({ address, history: () => of, onTrouble: (code) => troubles.push(code) });
  t.teardown(() => store.close());
  const works = () =>
    eventually(() =>
      store.ask([]).then(
        () => true,
        () => false,
      ),
    );
  await works();
  return { store, troubles, works };
}

t.test('Redis', async (t) => {
  const { store } = await open(t, await freshRedis(t));
  await bucketContract(t, store);
});

t.test('a bucket expires a second after it is full', async (t) => {
  const url = await freshRedis(t);
  const { store } = await open(t, url);
  const redis = redisClient(t, url);
  await store.ask([{ ...question, perSecond: 0.002, needed: 4 }]);
  t.same(await redis.keys('*'), [`${prefix}parent:a`]);
  const ttl = await redis.pttl(`${prefix}parent:a`);
  t.ok(ttl > 1_941_000 && ttl <= 2_001_000, `${ttl} ms for 4 tokens at 0.002 a second`);
});

t.test('a value that no replica wrote counts as a full bucket, and is replaced', async (t) => {
  const url = await freshRedis(t);
  const { store } = await open(t, url);
  const redis = redisClient(t, url);
  const key = `${prefix}parent:a`;
  const values = [
    '',
    'x',
    '5',
    '-5.000000 1.000',
    '1e9 1',
    `${'9'.repeat(400)}.0 1.0`,
    'nan.0 1.0',
    '5.0\n1.0',
  ];
  for (const spoil of [
    ...values.map((value) => () => redis.set(key, value)),
    () => redis.set(key, `5.000000 ${Date.now() * 2}.000`),
    () => redis.lpush(key, 'x'),
    () => redis.zadd(key, 1, 'x'),
    () => redis.hset(key, 'a', 'b'),
  ]) {
    await redis.del(key);
    await spoil();
    const [answer] = await store.ask([question]);
    t.ok(answer !== undefined && !(answer instanceof Error) && answer.granted === 1 && answer.left <= 9);
    t.match(await redis.get(key), /^\d+\.\d+ \d+\.\d+$/);
  }
});

t.test('a limit whose server is gone is told apart; the others are answered', async (t) => {
  const server = await startRedis(t, { 'cluster-enabled': 'yes', 'cluster-announce-ip': '127.0.0.1' });
  const admin = redisClient(t, server.url);
  await admin.cluster('ADDSLOTSRANGE', 0, 16383);
  const { store, troubles } = await open(t, server.url.replace('redis:', 'redis+cluster:'));
  await t.test('a cluster', (t) => bucketContract(t, store));
  const questions = Array.from({ length: 20 }, (_, i) => ({ ...question, limit: `parent:${i}` }));
  // As of a part of the cluster that was lost.
  await admin.config('SET', 'cluster-require-full-coverage', 'no');
  const lost = questions[3] as TokenQuestion;
  await admin.cluster('DELSLOTS', await admin.cluster('KEYSLOT', prefix + lost.limit));
  const answers = await store.ask(questions);
  t.same(
    answers.map((answer) => answer instanceof Error),
    questions.map((each) => each === lost),
  );
  t.same(troubles, ['CLUSTERDOWN']);
  await t.rejects(store.ask([lost]), 'there is no other');
});

t.test('a Redis that forgets the script, or everything, is told again', async (t) => {
  const { url } = await startRedis(t);
  const { store } = await open(t, url);
  const redis = redisClient(t, url);
  await store.ask([question]);
  await redis.script('FLUSH');
  await redis.flushall();
  t.match(await store.ask([question]), [{ granted: 1, left: 9 }]);
});

t.test('a Redis that is gone costs no wait, and is used again', async (t) => {
  const server = await startRedis(t);
  const { store } = await open(t, server.url);
  await server.kill();
  await t.rejects(store.ask([question]));
  await t.rejects(store.ask([]));
});

t.test('a copy of a database takes no tokens of the original from a Redis that both use', async (t) => {
  const url = await freshRedis(t);
  const [original, copy] = [await open(t, url), await open(t, url, 'f198c9a4-0000-4000-8000-000000000001')];
  await copy.store.ask([{ ...question, needed: 10 }]);
  t.match(await original.store.ask([question]), [{ granted: 1, left: 9 }]);
  const early = await open(t, url, null);
  await t.rejects(early.store.ask([question]), 'whose database has not answered yet');
});
