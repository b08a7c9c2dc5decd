// class: real
import t from 'tap';
import { Redis } from 'ioredis';
import { freshRedis, startRedis } from './redis.ts';

t.test('a fresh Redis is empty, and no other test sees it', async (t) => {
  const [one, two] = [connect(t, await freshRedis(t)), connect(t, await freshRedis(t))];
  await one.set('key', 'one');
  t.equal(await two.dbsize(), 0);
  await two.flushdb();
  t.equal(await one.get('key'), 'one');
});

t.test('a killed server comes back at its address, empty', async (t) => {
  const server = await startRedis(t);
  const redis = connect(t, server.url);
  await redis.set('key', 'value');
  await server.kill();
  await server.start();
  t.equal(await redis.get('key'), null);
});

t.test('a paused server answers nothing until it is resumed', async (t) => {
  const server = await startRedis(t);
  const [redis, running] = [connect(t, server.url), connect(t, await freshRedis(t))];
  await redis.ping();
  await server.pause();
  const answered = redis.time();
  await running.ping();
  const resumed = await running.time();
  await server.resume();
  t.ok(seconds(await answered) >= seconds(resumed));
});

function seconds([whole, micros]: readonly (string | number)[]): number {
  return Number(whole) + Number(micros) / 1e6;
}

function connect(t: { teardown(end: () => unknown): unknown }, url: string): Redis {
  const redis = new Redis(url, { retryStrategy: () => 20 });
  redis.on('error', () => undefined);
  t.teardown(() => redis.disconnect());
  return redis;
}
