// class: app
import t from 'tap';
import { startReplicas } from '../support/replicas.ts';

// Limits that one replica sets and another one keeps.

const { call, operator, parent: newParent } = await startReplicas(t, '', 'Token');

/** Status of a request at the replica that did not make the change, and what it says of limits. */
async function sent(key: string, acting?: string): Promise<readonly [number, string | undefined, unknown]> {
  const headers: [string, string][] = acting === undefined ? [] : [['X-Service-Acting-Tenant', acting]];
  const response = await call('GET', '/x', { key, headers });
  return [
    response.status,
    response.headers['ratelimit-policy'] as string | undefined,
    response.body['limited'],
  ];
}

/** A parent whose key sends one request, gets a quota of three for its month, and sends requests until one is rejected. */
async function sendBeforeAndAfterQuota() {
  const parent = await newParent();
  const key = await (await parent.create()).mint([]);
  t.same(await sent(key), [200, undefined, undefined]);
  const path = `/accounts/${parent.id}`;
  await operator('PATCH', path, { body: { limits: { requests_per_month: 3 } } });
  let after = 0;
  let last = await sent(key);
  for (; last[0] === 200; last = await sent(key)) after += 1;
  return { parent, key, path, after, last };
}

t.test('from the 2xx of a change on every replica keeps the new limit, and none the old one', async (t) => {
  for (let round = 0; round < 5; round++) {
    const parent = await newParent();
    const sub = await parent.create({ name: 'Sub', external_id: 'sub' });
    const key = await sub.mint([]);
    t.same(await sent(key), [200, undefined, undefined], 'it is in memory, without limits');
    const limits = { requests_per_month: 1_000_000 };
    const changed = await parent.call('PATCH', `/${sub.id}`, { body: { limits } });
    t.match(changed, { status: 200, headers: { 'x-service-enforced': /^replicas=2; / } });
    t.match(await sent(key), [200, /^"sub_account-month";q=1000000;w=\d+$/, undefined]);
    t.match(await sent(parent.key, 'ext:sub'), [200, /^"sub_account-month"/, undefined]);
    t.same(await sent(parent.key, 'self'), [200, undefined, undefined]);
    await parent.call('PATCH', `/${sub.id}`, { body: { limits: { requests_per_month: null } } });
    t.same(await sent(key), [200, undefined, undefined]);
  }
});

t.test(
  'a limit of a key and of a parent holds likewise, and tells a sub-account nothing of its parent',
  async (t) => {
    let tried = await sendBeforeAndAfterQuota();
    // Where the store takes more than a moment, a replica decides alone: that is no fault, so it is tried again.
    for (let i = 0; tried.after !== 2 && i < 4; i++) tried = await sendBeforeAndAfterQuota();
    const { parent, key, path, after, last } = tried;
    t.equal(after, 2, 'what was sent before the quota counts, too');
    t.match(last, [429, undefined, 'parent']);
    await operator('PATCH', path, { body: { limits: { requests_per_month: null } } });
    t.same(await sent(key), [200, undefined, undefined], 'and the end of a limit, too');
    const own = await operator('PATCH', `/api-keys/${parent.keyId}`, {
      body: { limits: { requests_per_second: 1_000 } },
    });
    t.match(own, { status: 200, headers: { 'x-service-enforced': /^replicas=2; / } });
    t.match(await sent(parent.key, 'self'), [200, '"api_key";q=1000;w=1', undefined]);
  },
);
