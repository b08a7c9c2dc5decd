// class: real
import t from 'tap';
import { Redis } from 'ioredis';
import { freshRedis, startRedis } from './redis.ts';

t.test('each fresh Redis is a world of its own', async (t) => {
  const [first, second] = await Promise.all([freshRedis(t), freshRedis(t)]);
  const one = connect(t, first);
  const two = connect(t, second);
  await one.set('key', 'one');
  await two.flushall();
  t.equal(await one.get('key'), 'one');
  t.equal(await two.get('key'), null);
});

t.test('a killed server comes back at its address, empty', async (t) => {
  const server = await startRedis(t);
  const redis = connect(t, server.url);
  await redis.set('key', 'value');
  await server.kill();
  await server.start();
  t.equal(await redis.get('key'), null);
});

t.test('a paused server sends nothing until it is resumed', async (t) => {
  const server = await startRedis(t);
  const redis = connect(t, server.url);
  await redis.ping();
  await server.pause();
  const response = redis.ping();
  const first = await Promise.race([response, new Promise((resolve) => setTimeout(resolve, 200, 'silence'))]);
  t.equal(first, 'silence');
  await server.resume();
  t.equal(await response, 'PONG');
});

function connect(t: { teardown(end: () => unknown): unknown }, url: string): Redis {
  const redis = new Redis(url, { retryStrategy: () => 20 });
  redis.on('error', () => undefined);
  t.teardown(() => redis.disconnect());
  return redis;
}
