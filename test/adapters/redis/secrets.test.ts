// class: built
import t from 'tap';
import { freshDatabase } from '../../support/postgres.ts';
import { becomes, startProcess } from '../../support/process.ts';
import { freshRedis, redisClient } from '../../support/redis.ts';
import { startUpstream } from '../../support/upstreams.ts';

t.test('an API key is in no key and no value of Redis, nor in log, metrics or responses', async (t) => {
  const [upstream, redisUrl] = [await startUpstream(t), await freshRedis(t)];
  const token = 'a-token-of-the-operator-of-this-test';
  const { url, internalUrl, program } = await startProcess(t, {
    DATABASE_URL: await freshDatabase(t),
    REDIS_URL: redisUrl,
    UPSTREAM_URL: upstream.url,
    ADMIN_TOKEN: token,
    LOG_LEVEL: 'trace',
  });
  await becomes(internalUrl, 200);
  const texts: string[] = [];
  const call = async (address: string, bearer: string, body?: object): Promise<Record<string, string>> => {
    const response = await fetch(address, {
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.status !== 201) texts.push(text + JSON.stringify([...response.headers]));
    return text.startsWith('{') ? (JSON.parse(text) as Record<string, string>) : {};
  };
  const accounts = `${internalUrl}/admin/v1/accounts`;
  const { id } = await call(accounts, token, { name: 'canary' });
  const minted = await call(`${accounts}/${id}/api-keys`, token, {
    name: 'canary',
    scopes: ['sub_accounts:write'],
  });
  const { api_key: key = '', client_secret: secret = '' } = minted;
  await call(`${url}/v1/sub-accounts`, key, { name: 'sub', external_id: 'a' });
  for (let i = 0; i < 5; i++) await call(`${url}/orders/${i}`, key);
  await call(`${url}/orders`, `${key}x`);
  await call(`${url}/orders`, key, {});
  await call(`${url}/v1/%2e/sub-accounts`, key);
  await call(`${accounts}/${id}/api-keys/${minted['id']}/revoke`, token, {});
  await call(`${url}/orders`, key);

  const redis = redisClient(t, redisUrl);
  const stored: string[] = [];
  for (const name of await redis.keys('*')) {
    stored.push(name, (await redis.getBuffer(name))?.toString('latin1') ?? '');
  }
  t.ok(stored.length > 2, `${stored.length / 2} entries`);
  const metrics = await (await fetch(`${internalUrl}/metrics`)).text();
  t.ok(key.length > 20 && secret.length > 20);
  for (const [where, text] of [
    ['Redis', stored.join('\n')],
    ['the responses', texts.join('\n')],
    ['the log', program.stdout + program.stderr],
    ['the metrics', metrics],
  ] as const) {
    t.ok(text.length > 0, where);
    for (const word of [key, secret, token]) t.notOk(text.includes(word), where);
    // Nor may the part that is random stand anywhere without its prefix.
    t.notOk(text.includes(key.slice(key.indexOf('_') + 6)), where);
  }
});
