// class: real
/**
 * Over 10,000 random requests: what `GET /v1/sub-accounts/onboarding` counts for each key is what the access log has of it.
 * TEST_ONBOARDING_REQUESTS says how many there are.
 */
import { randomInt } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Pool } from 'undici';
import { makeParents, operatorToken, type Parent } from '../../support/apis.ts';
import { eventually } from '../../support/eventually.ts';
import { httpClient } from '../../support/http-client.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { becomes, startProcess, tempFolder } from '../../support/process.ts';
import { startUpstream } from '../../support/upstreams.ts';

const total = Number(process.env['TEST_ONBOARDING_REQUESTS'] ?? 10_000);
const methods = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const writes = new Set<unknown>(['POST', 'PUT', 'PATCH', 'DELETE']);

const pick = <T>(list: readonly T[]): T => list[randomInt(list.length)] as T;

t.test('onboarding counts what the access log has', { timeout: 600_000 }, async (t) => {
  const file = join(tempFolder(t), 'gateway.yaml');
  writeFileSync(file, 'limits: { max_event_loop_delay_ms: 0 }\n');
  const { program, url, internalUrl } = await startProcess(t, {
    DATABASE_URL: await freshDatabase(t),
    UPSTREAM_URL: (await startUpstream(t)).url,
    ADMIN_TOKEN: operatorToken,
    CONFIG: file,
  });
  await becomes(internalUrl, 200);
  const internal = httpClient(t, internalUrl);
  const makeParent = makeParents(httpClient(t, url), (method, path, more) =>
    internal(method, `/admin/v1${path}`, { key: operatorToken, ...more }),
  );
  const parents: Parent[] = [];
  for (let i = 0; i < 4; i++) parents.push(await makeParent());
  const keys = parents.map(({ key }) => key);
  const values: (string | undefined)[] = [undefined, undefined, undefined, 'self', 'ext:a', 'nonsense'];
  // Two have sub-accounts from the beginning, one gets its first in the middle, and one never has any.
  const [first, second, late] = parents as [Parent, Parent, Parent, Parent];
  const adopt = async (parent: Parent): Promise<void> => {
    const sub = await parent.create({ name: 'A', external_id: 'a' });
    keys.push(await sub.mint());
    values.push(sub.id);
  };
  await adopt(first);
  await (await second.create({ name: 'A', external_id: 'a' })).act('deactivate');

  const pool = new Pool(url, { connections: 16 });
  t.teardown(() => pool.close());
  let sent = 0;
  const send = async (): Promise<void> => {
    while (sent < total) {
      sent += 1;
      if (sent === Math.floor(total / 2)) await adopt(late);
      const method = pick(methods);
      const value = pick(values);
      const headers = {
        authorization: `Bearer ${pick(keys)}`,
        ...(value !== undefined && { 'x-service-acting-tenant': value }),
      };
      const body = writes.has(method) ? 'x'.repeat(randomInt(2_000)) : null;
      const response = await pool.request({ method, path: `/r/${sent}`, headers, body });
      await response.body.dump();
    }
  };
  await Promise.all(Array.from({ length: 16 }, send));

  const lines = () =>
    program.log().filter((line) => line['msg'] === 'request' && String(line['path']).startsWith('/r/'));
  await eventually(() => lines().length === total);
  const expected = new Map<string, number>();
  for (const { method, reason, key_id: keyId, caller, tenant } of lines()) {
    const isParent = parents.some(({ id }) => id === caller);
    if (!writes.has(method) || reason !== 'self-by-default' || !isParent || tenant !== caller) continue;
    expected.set(String(keyId), (expected.get(String(keyId)) ?? 0) + 1);
  }
  t.comment(`${total} requests: ${[...expected.values()].join(', ')} writes without the header by key`);
  t.ok(expected.size === 3, 'the parent with an active sub-account has none');

  const counted = async (): Promise<Map<string, number>> => {
    const found = new Map<string, number>();
    for (const { call } of parents)
      for (const { api_key_id: id, requests } of (await call('GET', '/onboarding')).body['data'] as {
        readonly api_key_id: string;
        readonly requests: number;
      }[])
        found.set(id, requests);
    return found;
  };
  const sum = (counts: Map<string, number>): number => [...counts.values()].reduce((all, n) => all + n, 0);
  await eventually(async () => sum(await counted()) >= sum(expected), { everyMs: 250 });
  t.same([...(await counted())].sort(), [...expected].sort());
});
