// class: app
/** Strangers and visitors who send the portal many tokens and links that are made up, or whose sessions have ended. */
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { startApis } from '../support/apis.ts';
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
