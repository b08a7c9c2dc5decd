// class: real
import t from 'tap';
import { freshRedis, redisClient, startRedis } from './redis.ts';

t.test('a fresh Redis is empty, and no other test sees it', async (t) => {
  const [one, two] = [redisClient(t, await freshRedis(t)), redisClient(t, await freshRedis(t))];
  await one.set('key', 'one');
  t.equal(await two.dbsize(), 0);
  await two.flushdb();
  t.equal(await one.get('key'), 'one');
});

t.test('a killed server comes back at its address, empty', async (t) => {
  const server = await startRedis(t);
  const redis = redisClient(t, server.url);
  await redis.set('key', 'value');
  await server.kill();
  await server.start();
  t.equal(await redis.get('key'), null);
});

t.test('a paused server answers nothing until it is resumed', async (t) => {
  const server = await startRedis(t);
  const [redis, running] = [redisClient(t, server.url), redisClient(t, await freshRedis(t))];
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
