// class: app
/** Sessions of operators: what a cookie alone can do, and what ends it. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import t from 'tap';
import { sessionCookie } from '../../src/api/operator/operator-sessions.ts';
import type { OperatorToken } from '../../src/config.ts';
import { operatorToken, startApis } from '../support/apis.ts';
import { embeddedStore } from '../support/embedded.ts';
import { httpClient, type Call, type CallOptions, type HttpResponse } from '../support/http-client.ts';

const alice: OperatorToken = {
  operator: 'alice',
  token: 'token-of-alice-0123456789abcdef012',
  role: 'admin',
};
const bob = { ...alice, operator: 'bob', token: 'token-of-bob-0123456789abcdef01234' };
const usual: OperatorToken = { operator: 'operator', token: operatorToken, role: 'admin' };
const store = await embeddedStore(t);
const start = () => startApis(t, { store, adminTokens: { alice, bob } });
const one = await start();
const other = await start();

interface SignedIn {
  readonly cookie: string;
  readonly csrf: string;
  readonly response: HttpResponse;
}

async function signIn(
  token = alice.token,
  { operator }: { readonly operator: Call } = one,
): Promise<SignedIn> {
  const response = await operator('POST', '/session', { key: token });
  const [cookie = ''] = (response.headers['set-cookie']?.[0] ?? '').split(';');
  return { cookie, csrf: String(response.body['csrf_token']), response };
}

/** Calls without a token, unlike `operator`. */
function bare(origin = one.internalOrigin) {
  const send = httpClient(t, origin);
  return (method: string, path: string, headers: NonNullable<CallOptions['headers']>, body?: object) =>
    send(method, `/admin/v1${path}`, { headers, ...(body !== undefined && { body }) });
}

const call = bare();

t.test('a cookie that was made up asks the store nothing', async (t) => {
  let asked = 0;
  const around = <T extends object>(part: T): T => {
    if ((part as object) !== store.operatorSessions) return part;
    const counted = (sessions: T, name: string | symbol) => ((asked += 1), Reflect.get(sessions, name));
    return new Proxy(part, { get: counted });
  };
  const apis = await startApis(t, { store, around });
  const { cookie } = await signIn(operatorToken, apis);
  const ask = bare(apis.internalOrigin);
  asked = 0;
  for (const secret of [randomBytes(48).toString('base64url'), 'A'.repeat(64)])
    t.match(await ask('GET', '/whoami', { cookie: `${sessionCookie}=${secret}` }), { status: 401 });
  t.equal(asked, 0);
  t.match(await ask('GET', '/whoami', { cookie }), { status: 200 });
  t.ok(asked > 0);
});

t.test('the cookie is kept from scripts, other sites and caches, and the body has no secret', async (t) => {
  const { response, cookie } = await signIn();
  t.equal(response.status, 200);
  const [, ...flags] = response.headers['set-cookie']?.[0]?.split('; ') ?? [];
  t.same(flags, ['Max-Age=28800', 'HttpOnly', 'SameSite=Strict']);
  t.equal(response.headers['cache-control'], 'no-store');
  t.notOk(response.text.includes(cookie.split('=')[1] ?? ''), 'the secret');
  t.notOk(response.text.includes(alice.token), 'the token');
  const https = await one.operator('POST', '/session', { headers: { 'x-forwarded-proto': 'https' } });
  t.match(https.headers['set-cookie']?.[0], /; Secure$/);
  const chain = await one.operator('POST', '/session', { headers: { 'x-forwarded-proto': 'HTTPS, http' } });
  t.match(chain.headers['set-cookie']?.[0], /; Secure$/);
});

t.test('a session reads with its cookie alone, as its operator', async (t) => {
  const { cookie, csrf } = await signIn();
  const { status, text } = await call('GET', '/whoami', { cookie });
  t.equal(status, 200);
  t.match(JSON.parse(text), { operator: 'alice', role: 'admin', session: { csrf_token: csrf } });
  t.match((await one.operator('GET', '/whoami')).body, { session: null });
});

t.test('a session changes something with the CSRF token only', async (t) => {
  const [{ cookie, csrf }, another] = [await signIn(), await signIn()];
  const { id } = await one.parent();
  const suspend = `/accounts/${id}/suspend`;
  for (const [what, headers] of [
    ['none', { cookie }],
    ['an empty one', { cookie, 'x-csrf-token': '' }],
    ['that of another session', { cookie, 'x-csrf-token': another.csrf }],
    [
      'the right one and another',
      Object.entries({ cookie, 'x-csrf-token': csrf, 'X-CSRF-Token': another.csrf }),
    ],
    ['one without a session', { 'x-csrf-token': csrf }],
  ] as const)
    t.match(await call('POST', suspend, headers), { status: 401 }, what);
  t.match((await one.operator('GET', `/accounts/${id}`)).body, { status: 'active' });
  t.match(await call('POST', suspend, { cookie, 'x-csrf-token': csrf }), { status: 200 });
  const { body } = await one.operator('GET', `/events?type=account.suspended&limit=1`);
  t.match(body, { data: [{ actor: { kind: 'operator', name: 'alice' } }] });
});

t.test('a cookie does not stand in for a wrong token, and two are none', async (t) => {
  const [{ cookie }, another] = [await signIn(), await signIn()];
  for (const headers of [
    { cookie, authorization: 'Bearer wrong' },
    { cookie, authorization: 'Basic b3BlcmF0b3I6' },
    { cookie: `${cookie}; ${another.cookie}` },
    Object.entries({ cookie, Cookie: another.cookie }),
    { cookie: `${cookie.slice(0, -1)}${cookie.endsWith('A') ? 'B' : 'A'}` },
    { cookie: `${cookie}A` },
    { cookie: 'tenancy_gateway_session=' },
  ])
    t.match(await call('GET', '/whoami', headers), { status: 401 }, JSON.stringify(Object.keys(headers)));
  t.match(await call('GET', '/whoami', { cookie: `theme=dark; ${cookie}; lang=de` }), { status: 200 });
});

t.test('a new sign-in, and a sign-out beside a token, end the session of the cookie', async (t) => {
  const [first, second] = [await signIn(), await signIn()];
  await one.operator('POST', '/session', { headers: { cookie: first.cookie } });
  t.match(await call('GET', '/whoami', { cookie: first.cookie }), { status: 401 });
  await one.operator('DELETE', '/session', { headers: { cookie: second.cookie } });
  t.match(await call('GET', '/whoami', { cookie: second.cookie }), { status: 401 });
});

t.test('guesses of a secret are paced and counted like guesses of a token', async (t) => {
  let [paced, noted] = [0, 0];
  const tokenGuesses = {
    pace: (_network: string, check: () => void) => ((paced += 1), check()),
    note: () => (noted += 1),
  };
  const apis = await startApis(t, { store, adminTokens: { alice }, tokenGuesses });
  const ask = bare(apis.internalOrigin);
  const secret = 'A'.repeat(64);
  t.match(await ask('GET', '/whoami', { cookie: `tenancy_gateway_session=${secret}` }), { status: 401 });
  t.same([paced, noted], [1, 1]);
  t.match(await ask('GET', '/whoami', {}), { status: 401 });
  t.same([paced, noted], [1, 1], 'a request without credentials is no guess');
});

t.test('a session cannot begin or prolong one', async (t) => {
  const { cookie, csrf } = await signIn();
  const { status } = await call('POST', '/session', { cookie, 'x-csrf-token': csrf });
  t.equal(status, 401);
});

t.test('signing out ends the session on every replica', async (t) => {
  const { cookie, csrf } = await signIn();
  const elsewhere = bare(other.internalOrigin);
  t.match(await elsewhere('GET', '/whoami', { cookie }), { status: 200 }, 'it is one of every replica');
  t.match(await call('DELETE', '/session', { cookie }), { status: 401 }, 'other sites cannot sign out');
  t.match(await call('DELETE', '/session', { cookie, 'x-csrf-token': csrf }), { status: 204 });
  for (const replica of [call, elsewhere])
    t.match(await replica('GET', '/whoami', { cookie }), { status: 401 });
  t.match(await call('POST', '/accounts', { cookie, 'x-csrf-token': csrf }, { name: 'Late' }), {
    status: 401,
  });
});

t.test('a session ends with its token, and has the role that the token has now', async (t) => {
  const apis = await start();
  const [mine, bobs] = [await signIn(alice.token, apis), await signIn(bob.token, apis)];
  const ask = bare(apis.internalOrigin);
  apis.operatorTokens.replace([usual, { ...alice, role: 'viewer' }, bob]);
  const changed = await ask(
    'POST',
    '/accounts',
    { cookie: mine.cookie, 'x-csrf-token': mine.csrf },
    { name: 'x' },
  );
  t.match(changed, { status: 403, text: /insufficient_role/ });
  apis.operatorTokens.replace([usual, { ...alice, token: `${alice.token}-new` }, bob]);
  t.match(await ask('GET', '/whoami', { cookie: mine.cookie }), { status: 401 });
  t.match(await ask('GET', '/whoami', { cookie: bobs.cookie }), { status: 200 }, 'another one goes on');
});

t.test('a session that ends while the body of a change arrives changes nothing', async (t) => {
  const { cookie, csrf } = await signIn();
  const body = JSON.stringify({ name: 'Late' });
  const sent = request(`${one.internalOrigin}/admin/v1/accounts`, {
    method: 'POST',
    headers: {
      cookie,
      'x-csrf-token': csrf,
      'content-type': 'application/json',
      'content-length': body.length,
      expect: '100-continue',
    },
  });
  sent.flushHeaders();
  // The first check is done when the body is asked for.
  await once(sent, 'continue');
  await call('DELETE', '/session', { cookie, 'x-csrf-token': csrf });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  t.equal(response.statusCode, 401);
  t.same((await one.operator('GET', '/accounts?q=Late')).body['data'], []);
});

t.test('the public listener does not know sessions', async (t) => {
  const { cookie } = await signIn();
  const { status } = await one.call('GET', '/v1/sub-accounts', { headers: { cookie } });
  t.equal(status, 401);
});
