// class: real
/** A Redis that is away, stalls or refuses is told to operators, once, by its code. */
import t from 'tap';
import { eventually } from '../../support/eventually.ts';
import { openFactCache } from '../../support/fact-cache.ts';
import { redisClient, startRedis } from '../../support/redis.ts';
import type { Scope } from '../../support/servers.ts';

const keys = ['n:parent'] as const;

function open(t: Scope, url: string) {
  const [connected, troubles]: [boolean[], string[]] = [[], []];
  const cache = openFactCache(t, url, {
    onConnected: (is) => connected.push(is),
    onTrouble: (code) => troubles.push(code),
  });
  return { cache, connected, troubles };
}

t.test(
  'a Redis that is killed is not connected, and says why once; it is connected when it is back',
  async (t) => {
    const server = await startRedis(t);
    const { connected, troubles } = open(t, server.url);
    await eventually(() => connected.at(-1) === true);
    t.same(troubles, []);
    await server.kill();
    await eventually(() => connected.at(-1) === false && troubles.includes('ECONNREFUSED'));
    // It tries again all the time.
    const tries = connected.length;
    await eventually(() => connected.length > tries + 2);
    t.equal(troubles.filter((code) => code === 'ECONNREFUSED').length, 1);
    await server.start();
    await eventually(() => connected.at(-1) === true);
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

t.test('a Redis that stalls is found out by what is asked of it, and told', async (t) => {
  const server = await startRedis(t);
  const { cache, connected, troubles } = open(t, server.url);
  await eventually(() => connected.at(-1) === true);
  await server.pause();
  await cache.get(keys);
  await eventually(() => connected.at(-1) === false);
  t.ok(troubles.includes('ETIMEDOUT'), troubles.join(' '));
  await server.resume();
  await eventually(() => connected.at(-1) === true);
});
