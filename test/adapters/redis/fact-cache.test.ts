// class: real
import t from 'tap';
import type { BreakerState } from '../../../src/adapters/redis/breaker.ts';
import type { AccountId } from '../../../src/domain/ids.ts';
import type { StampedFact } from '../../../src/ports/fact-cache.ts';
import type { FactKey } from '../../../src/ports/facts.ts';
import { systemTimers } from '../../../src/ports/timers.ts';
import { openFactCache } from '../../support/fact-cache.ts';
import { startSentinel } from '../../support/redis-sentinel.ts';
import { freshRedis, redisClient, startRedis } from '../../support/redis.ts';
import type { Scope } from '../../support/servers.ts';
import { eventually } from '../../support/eventually.ts';

const account = '0198c9a4-0000-7000-8000-00000000000a' as AccountId;
const facts = new Map<FactKey, StampedFact>([
  ['n:parent', { value: 3, seq: 5, incarnation: 'i' }],
  ['x:parent:ext', { value: account, seq: 5, incarnation: 'i' }],
]);
const keys = [...facts.keys()];

/** @param patience how many times longer than in service it waits for Redis */
function open(t: Scope, url: string, patience = 100, macKeys: readonly Buffer[] = []) {
  const states: BreakerState[] = [];
  /** What operators are told. */
  const [connected, troubles]: [boolean[], string[]] = [[], []];
  let asked = 0;
  const cache = openFactCache(t, url, {
    macKeys,
    timers: {
      after: (ms, task) => {
        asked += 1;
        return systemTimers.after(ms * patience, task);
      },
    },
    onBreakerState: (state) => states.push(state),
    onConnected: (is) => connected.push(is),
    onTrouble: (code) => troubles.push(code),
  });
  /** Writes until it can be read: the connection is made behind the scenes. */
  const works = () =>
    eventually(async () => {
      cache.set(facts);
      return (await cache.get(keys)).size === facts.size;
    });
  return { cache, states, connected, troubles, works, asked: () => asked };
}

t.test('facts come back with their stamps, and expire', async (t) => {
  const url = await freshRedis(t);
  const { cache, works } = open(t, url);
  await works();
  t.same(await cache.get([...keys, 'n:unknown']), facts);
  const redis = redisClient(t, url);
  t.same((await redis.keys('*')).sort(), ['tg:2:p:n:parent', 'tg:2:p:x:parent:ext']);
  const ttl = await redis.pttl('tg:2:p:n:parent');
  t.ok(ttl > 0 && ttl <= 60_000);
  await redis.set('tg:2:p:n:parent', 'nonsense');
  t.equal((await cache.get(['n:parent'])).size, 0);
});

t.test('facts that are to be forgotten are gone from Redis, name and value', async (t) => {
  const url = await freshRedis(t);
  const { cache, works } = open(t, url);
  await works();
  cache.forget?.(['x:parent:ext', 'a:unknown']);
  const redis = redisClient(t, url);
  await eventually(async () => (await redis.keys('*')).join() === 'tg:2:p:n:parent');
});

t.test('a frozen Redis costs a short wait, then none, is told, and is used again later', async (t) => {
  const server = await startRedis(t);
  const { cache, states, connected, troubles, works, asked } = open(t, server.url, 1);
  await works();
  await server.pause();
  for (let i = 0; i < 3; i++) t.equal((await cache.get(keys)).size, 0);
  t.equal(states.at(-1), 'open');
  const before = asked();
  t.equal((await cache.get(keys)).size, 0);
  t.equal(asked(), before, 'no request waits while it is open');
  await eventually(() => connected.at(-1) === false);
  t.ok(troubles.includes('ETIMEDOUT'), troubles.join(' '));
  await server.resume();
  await works();
  t.equal(states.at(-1), 'closed');
  t.equal(connected.at(-1), true);
});

t.test(
  'a Redis that was killed, or is not there from the start, delays nothing, is told once and used later',
  async (t) => {
    const server = await startRedis(t);
    const killed = open(t, server.url);
    await killed.works();
    await server.kill();
    const late = open(t, server.url);
    for (const { cache } of [killed, late]) {
      t.equal((await cache.get(keys)).size, 0);
      cache.set(facts);
    }
    for (const { connected, troubles } of [killed, late]) {
      await eventually(() => connected.at(-1) === false && troubles.includes('ECONNREFUSED'));
      // It tries again all the time.
      const tries = connected.length;
      await eventually(() => connected.length > tries + 2);
      t.equal(troubles.filter((code) => code === 'ECONNREFUSED').length, 1);
    }
    await server.start();
    for (const { works, connected } of [killed, late]) {
      await works();
      t.equal(connected.at(-1), true);
    }
  },
);

t.test('a wrong password is told as such, and never counts as connected', async (t) => {
  const server = await startRedis(t);
  const admin = redisClient(t, server.url);
  await admin.config('SET', 'requirepass', 'right');
  const { connected, troubles } = open(t, server.url.replace('redis://', 'redis://:wrong@'));
  await eventually(() => troubles.includes('WRONGPASS'));
  const without = open(t, server.url);
  await eventually(() => without.troubles.includes('NOAUTH'));
  t.notOk([...connected, ...without.connected].includes(true));
  t.notOk(JSON.stringify([...troubles, ...without.troubles]).includes('wrong'));
});

t.test('a command that Redis refuses is told by its code', async (t) => {
  const server = await startRedis(t);
  const admin = redisClient(t, server.url);
  await admin.acl('SETUSER', 'reader', 'on', '>secret', '~other:*', '+@all');
  const { cache, connected, troubles } = open(t, server.url.replace('redis://', 'redis://reader:secret@'));
  await eventually(() => connected.at(-1) === true);
  await cache.get(keys);
  t.same(troubles, ['NOPERM']);
  await cache.get(keys);
  t.same(troubles, ['NOPERM'], 'once');
});

t.test('a cluster: keys of any slots', async (t) => {
  const server = await startRedis(t, { 'cluster-enabled': 'yes', 'cluster-announce-ip': '127.0.0.1' });
  const admin = redisClient(t, server.url);
  await admin.cluster('ADDSLOTSRANGE', 0, 16383);
  const { cache, works } = open(t, server.url.replace('redis:', 'redis+cluster:'));
  await works();
  t.same(await cache.get(keys), facts);
});

t.test('Sentinels: the master they name', async (t) => {
  const server = await startRedis(t);
  const sentinel = await startSentinel(t, 'main', server.url);
  const { cache, works } = open(t, `redis+sentinel://${sentinel}/main`);
  await works();
  t.same(await cache.get(keys), facts);
});

t.test('with keys, a value is believed only where a gateway wrote it, under this name', async (t) => {
  const url = await freshRedis(t);
  const [key, newer] = [Buffer.alloc(32, 'a'), Buffer.alloc(32, 'b')];
  const plain = open(t, url);
  const signed = open(t, url, 100, [key]);
  await plain.works();
  await signed.works();
  const redis = redisClient(t, url);
  const at = 'tg:2s:p:n:parent';
  const good = (await redis.get(at)) ?? '';
  const believed = async (text: string): Promise<boolean> => {
    await redis.set(at, text);
    return (await signed.cache.get(['n:parent'])).size === 1;
  };
  t.ok(await believed(good));
  const forged = JSON.stringify({ v: 1, s: 5, i: 'i', f: 0 });
  for (const text of [
    forged,
    good.slice(0, 22) + forged,
    'A'.repeat(22) + forged,
    good.slice(22),
    good.slice(1),
    `${good} `,
    (await redis.get('tg:2s:p:x:parent:ext')) ?? '',
    (await redis.get('tg:2:p:n:parent')) ?? '',
    '',
  ])
    t.notOk(await believed(text), text);

  const rotating = open(t, url, 100, [newer, key]);
  await redis.set(at, good);
  await eventually(async () => (await rotating.cache.get(['n:parent'])).size === 1);
  await rotating.works();
  t.not(await redis.get(at), good, 'the first key signs');
  t.equal((await signed.cache.get(['n:parent'])).size, 0, 'and who does not have it does not believe it');
});
