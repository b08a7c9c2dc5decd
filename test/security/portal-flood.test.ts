// class: app
/** Strangers and visitors who send the portal many tokens and links that are made up, or whose sessions have ended. */
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { startApis } from '../support/apis.ts';
import { ManualTime } from '../support/coherence/manual-time.ts';
import { httpClient } from '../support/http-client.ts';
import { makeLink, openPortal, portalCall } from '../support/portal.ts';
import { createParent, freshStore, problemCode } from '../support/store.ts';

/** More than may wait for the store in one line. */
const many = 1_400;

t.test('what is made up asks the store nothing', async (t) => {
  const { store } = await freshStore(t);
  const asked: [string, unknown][] = [];
  const apis = await startApis(t, {
    store,
    portal: {},
    trustedProxies: ['127.0.0.1'],
    around: (part) =>
      (part as object) === store.portalSessions
        ? new Proxy(part, {
            get:
              (sessions, name) =>
              (...args: unknown[]): unknown => {
                asked.push([String(name), args.at(-1)]);
                return (Reflect.get(sessions, name) as (...args: unknown[]) => unknown)(...args);
              },
          })
        : part,
  });
  const bare = portalCall(t, apis);
  const parent = await apis.parent();
  const { call, token } = await openPortal(t, apis, parent);
  const { link } = await makeLink(parent);
  asked.length = 0;
  const changed = (secret: string): string => (secret.startsWith('A') ? 'B' : 'A') + secret.slice(1);
  for (const secret of [changed(token), changed(link), randomBytes(48).toString('base64url')]) {
    t.equal((await bare('GET', '/session', { key: secret })).status, 401);
    t.equal((await bare('POST', '/redeem', { body: { link: secret } })).status, 401);
  }
  t.same(asked, [], 'no question');
  const from = { headers: [['X-Forwarded-For', '2001:db8::1']] } as const;
  t.equal((await call('GET', '/session', from)).status, 200);
  t.equal((await bare('POST', '/redeem', { body: { link }, ...from })).status, 201);
  t.same(
    asked,
    [
      ['find', '2001:db8:0:0'],
      ['redeem', '2001:db8:0:0'],
    ],
    'what a gateway made waits in the line of its network',
  );
});

t.test('networks take turns, and all of them leave the store to tenants and operators', async (t) => {
  const { store } = await freshStore(t);
  const { id } = await createParent(store.tenants);
  let found = 0;
  const find = (network: string) =>
    problemCode(store.portalSessions.find(randomBytes(32), network).finally(() => (found += 1)));
  const ofOne = Array.from({ length: many }, () => find('192.0.2.1'));
  t.equal(await find('192.0.2.2'), undefined, 'another network has a turn');
  t.ok((await Promise.all(ofOne)).includes('too_many_requests'), 'and the first had sent too many');
  found = 0;
  const ofMany = Array.from({ length: many }, (_, index) => find(`198.51.${index >> 8}.${index & 255}`));
  const theirs = await Promise.all([
    problemCode(store.tenants.getParent(id)),
    problemCode(store.tenants.getParent(id, id)),
    problemCode(store.ping()),
  ]);
  t.same(theirs, [undefined, undefined, undefined], 'nobody else is turned away');
  t.ok(found < many / 4, `${found} visitors were served before others`);
  await Promise.all(ofMany);
});

t.test(
  'a flood of the portal uses up the share of its network, and of no other, on all listeners',
  async (t) => {
    const time = new ManualTime();
    const apis = await startApis(t, {
      ...{ portal: {}, trustedProxies: ['127.0.0.1'], time, limits: { maxEventLoopDelayMs: 100 } },
      deps: { pressure: () => ({ delayMs: 200, heapBytes: 0, memoryBytes: 0 }) },
    });
    const from = (network: string) => ({ headers: [['X-Forwarded-For', network]] }) as const;
    const internal = httpClient(t, apis.internalOrigin);
    const portal = httpClient(t, apis.portalOrigin ?? '');
    const ask = async (times: number): Promise<number[]> => {
      const made = { key: 'made-up', ...from('192.0.2.1') };
      const asked = Array.from({ length: times }, () => portal('GET', '/api/session', made));
      return (await Promise.all(asked)).map(({ status }) => status);
    };
    const page = async (network: string): Promise<number> =>
      (await apis.call('HEAD', '/v1/sub-accounts/docs', from(network))).status;
    await time.advance(1_000);
    t.same(new Set(await ask(10)), new Set([401]), 'the first window has no shares');
    await time.advance(1_000);
    t.same(new Set(await ask(7)), new Set([401]), 'the next admits seven tenths of what that one had');
    t.same(await ask(1), [503]);
    t.equal(await page('192.0.2.1'), 503);
    t.equal(await page('198.51.100.1'), 200);
    for (const path of ['/', '/api/session', '/api/none', '/none'])
      t.equal((await portal('GET', path, from('192.0.2.1'))).status, 503, path);
    t.equal((await portal('GET', '/', from('198.51.100.1'))).status, 200);
    // The internal listener has no proxy that names clients.
    for (const path of ['/admin/v1/docs', '/console/']) {
      const asked = Array.from({ length: 10 }, async () => (await internal('HEAD', path)).status);
      t.ok((await Promise.all(asked)).includes(503), path);
    }
    t.equal((await apis.operator('GET', '/whoami')).status, 200);
  },
);
