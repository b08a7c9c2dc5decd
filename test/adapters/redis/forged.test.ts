// class: built
/** What a program can do that writes to the Redis of running gateways. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import t from 'tap';
import { databasePlace } from '../../../src/adapters/redis/database-place.ts';
import { digestSecret, formatSecret, secretRandomBytes } from '../../../src/domain/api-key.ts';
import { eventually } from '../../support/eventually.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { becomes, startProcess, tempFolder } from '../../support/process.ts';
import { freshRedis } from '../../support/redis.ts';
import type { Scope } from '../../support/servers.ts';
import { startUpstream } from '../../support/upstreams.ts';

const token = 'a-token-of-the-operator-of-this-test';

t.test(
  'without keys a stamp that no replica has reached grants nothing, now or after a revoke',
  async (t) => {
    const { redis, place, ask, mint, revoke, forge, entry } = await world(t, {});
    const { key, id } = await mint();
    t.equal(await ask(key), 200);
    const name = `tg:2:${place}:k:${digestSecret(key)}`;
    const honest = await entry(name, '');
    await redis.set(name, JSON.stringify({ ...honest, s: Number.MAX_SAFE_INTEGER }));
    await revoke(id);
    for (let i = 0; i < 3; i++) t.equal(await ask(key), 401);

    // So that the rest of this file shows something: a stamp that the replica has reached does decide.
    // A key is looked up in PostgreSQL, and rejected, if Redis responds too late.
    await eventually(async () => (await ask((await forge(honest, `tg:2:${place}:`)).madeUp)) === 200);
    t.pass('one that it has reached does');
  },
);

t.test('with keys, what another program wrote grants nothing, wherever it stands', async (t) => {
  const file = join(tempFolder(t), 'mac-keys');
  writeFileSync(file, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600 });
  const { redis, place, ask, mint, forge, entry } = await world(t, { REDIS_MAC_KEY_FILE: file });
  const { key } = await mint();
  t.equal(await ask(key), 200);
  const signed = `tg:2s:${place}:k:${digestSecret(key)}`;
  const honest = await entry(signed, '{');
  const code = ((await redis.get(signed)) ?? '').slice(0, 22);
  for (const prefix of ['tg:', 'tg:2:', 'tg:2s:', `tg:2:${place}:`, `tg:2s:${place}:`])
    for (const before of ['', 'A'.repeat(22), code]) {
      const { madeUp } = await forge(honest, prefix, before);
      t.equal(await ask(madeUp), 401, `${prefix} ${before}`);
    }
});

/** A gateway, its Redis, and a program that writes there. */
async function world(t: Scope, env: Readonly<Record<string, string>>) {
  const [upstream, redisUrl] = [await startUpstream(t), await freshRedis(t)];
  const databaseUrl = await freshDatabase(t);
  const { url, internalUrl } = await startProcess(t, {
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    UPSTREAM_URL: upstream.url,
    ADMIN_TOKEN: token,
    LOG_LEVEL: 'warn',
    ...env,
  });
  await becomes(internalUrl, 200);
  const redis = new Redis(redisUrl);
  t.teardown(() => redis.disconnect());
  const call = async (path: string, body: object): Promise<Record<string, string>> => {
    const response = await fetch(`${internalUrl}/admin/v1/accounts${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return (await response.json()) as Record<string, string>;
  };
  const { id: account = '' } = await call('', { name: 'parent' });

  const place = databasePlace(databaseUrl);
  return {
    place,
    redis,
    /** The status that a request with this key gets. */
    ask: async (key: string): Promise<number> => {
      const response = await fetch(`${url}/orders`, { headers: { authorization: `Bearer ${key}` } });
      await response.text();
      return response.status;
    },
    mint: async () => {
      const { api_key: key = '', id = '' } = await call(`/${account}/api-keys`, { name: 'key', scopes: [] });
      return { key, id };
    },
    revoke: (id: string) => call(`/${account}/api-keys/${id}/revoke`, {}),
    /** What a gateway wrote to Redis, from the first `from` on. It writes behind the scenes. */
    entry: async (name: string, from: string): Promise<Readonly<Record<string, unknown>>> => {
      await eventually(async () => (await redis.exists(name)) === 1);
      const text = (await redis.get(name)) ?? '';
      return JSON.parse(text.slice(text.indexOf(from))) as Record<string, unknown>;
    },
    /** Writes the record of a key that nobody minted, like an honest one. @param before what to put before its text */
    forge: async (honest: Readonly<Record<string, unknown>>, prefix: string, before = '') => {
      const madeUp = formatSecret('tgw', randomBytes(secretRandomBytes));
      await redis.set(`${prefix}k:${digestSecret(madeUp)}`, before + JSON.stringify(honest));
      return { madeUp };
    },
  };
}
