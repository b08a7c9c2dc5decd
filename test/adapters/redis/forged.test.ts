// class: app
/** What a program can do that writes to the Redis of a gateway. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import t from 'tap';
import { databasePlace } from '../../../src/adapters/redis/database-place.ts';
import { digestSecret, formatSecret, secretRandomBytes } from '../../../src/domain/api-key.ts';
import { eventually } from '../../support/eventually.ts';
import { freshRedis, redisClient } from '../../support/redis.ts';
import { get, named, start } from '../../support/reload.ts';

t.test('with keys, what another program wrote grants nothing, wherever it stands', async (t) => {
  const url = await freshRedis(t);
  const redis = redisClient(t, url);
  const file = join(t.testdir(), 'mac-keys');
  writeFileSync(file, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600 });
  const yaml = `upstream_url: ${(await named(t, 'it')).url}\nredis: { url: "${url}", mac_key_file: ${file} }`;
  const { origin, key, databaseUrl } = await start(t, yaml);
  const agent = new Agent({ keepAlive: true });
  t.teardown(() => agent.destroy());
  const ask = async (secret: string) => (await get(agent, `${origin}/x`, secret)).status;
  t.equal(await ask(key), 200);

  const place = databasePlace(databaseUrl);
  const signed = `tg:2s:${place}:k:${digestSecret(key)}`;
  // It is written behind the scenes.
  await eventually(async () => (await redis.exists(signed)) === 1);
  const written = (await redis.get(signed)) ?? '';
  const [code, honest] = [written.slice(0, 22), written.slice(written.indexOf('{'))];
  for (const prefix of ['tg:', 'tg:2:', 'tg:2s:', `tg:2:${place}:`, `tg:2s:${place}:`])
    for (const before of ['', 'A'.repeat(22), code]) {
      const madeUp = formatSecret('tgw', randomBytes(secretRandomBytes));
      await redis.set(`${prefix}k:${digestSecret(madeUp)}`, before + honest);
      t.equal(await ask(madeUp), 401, `${prefix} ${before}`);
    }
});
