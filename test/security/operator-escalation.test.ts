// class: app
/** What an operator of a lower role tries in order to get at what is for a higher one. */
import { METHODS } from 'node:http';
import t from 'tap';
import { startApis } from '../support/apis.ts';
import { embeddedStore } from '../support/embedded.ts';
import { rawRequest, requestText } from '../support/raw-client.ts';

const viewer = 'token-of-a-viewer-0123456789abcdef';
const support = 'token-of-support-0123456789abcdef';
const apis = await startApis(t, {
  store: await embeddedStore(t),
  adminTokens: { viewer: { token: viewer, role: 'viewer' }, support: { token: support, role: 'support' } },
});
const { operator } = apis;
const parent = await apis.parent();
const { port } = new URL(apis.internalOrigin);

/** Number of changes so far. */
async function changes(): Promise<number> {
  const { body } = await operator('GET', `/events?account_id=${parent.id}&limit=100`);
  return (body['data'] as unknown[]).length;
}

t.test("a replay of an admin's mint or rotation shows a lower role nothing", async (t) => {
  const mint = { headers: { 'idempotency-key': 'mint-of-an-admin' }, body: { name: 'key' } };
  const minted = await operator('POST', `/accounts/${parent.id}/api-keys`, mint);
  t.equal(minted.status, 201);
  const rotate = { headers: { 'idempotency-key': 'rotation-of-an-admin' }, body: { expires_in: 60 } };
  const rotation = `/api-keys/${String(minted.body['id'])}/rotate`;
  t.equal((await operator('POST', rotation, rotate)).status, 201);
  for (const key of [viewer, support])
    for (const [path, more] of [
      [`/accounts/${parent.id}/api-keys`, mint],
      [rotation, rotate],
    ] as const) {
      const response = await operator('POST', path, { key, ...more });
      t.match(response, { status: 403, body: { code: 'insufficient_role', role: 'admin' } });
      t.notMatch(response.text, /tgw_|tgws_/);
      t.notOk('id' in response.body || 'scopes' in response.body);
    }
});

t.test('no method, header or spelling of a path lets a viewer change anything', async (t) => {
  const before = await changes();
  const suspend = `/admin/v1/accounts/${parent.id}/suspend`;
  const spellings = [
    suspend,
    `${suspend}/`,
    `${suspend}?role=admin`,
    `${suspend}%20`,
    suspend.replace('suspend', 'su%73pend'),
    suspend.replace('suspend', 'SUSPEND'),
    suspend.replace('/admin', '/%61dmin'),
    suspend.replace('/admin', '//admin'),
    suspend.replace('/admin', '/livez/../admin'),
    suspend.replace('/suspend', '/./suspend'),
    suspend.replace('/suspend', '/;/suspend'),
    `/admin/v1/docs/..${suspend}`,
  ];
  const headers: readonly (readonly [string, string])[] = [
    ['Authorization', `Bearer ${viewer}`],
    ['X-HTTP-Method-Override', 'POST'],
    ['X-Original-URL', suspend],
    ['X-Operator-Role', 'admin'],
    ['Content-Length', '0'],
    ['Connection', 'close'],
  ];
  for (const method of METHODS.filter((each) => each !== 'CONNECT'))
    for (const target of spellings) {
      const { status } = await rawRequest(t, Number(port), requestText(method, target, headers));
      t.notOk(status < 300, `${method} ${target}: ${status}`);
    }
  t.equal(await changes(), before);
});

t.test('HEAD needs the role of GET, and is no way into another method', async (t) => {
  for (const [path, status] of [
    ['/accounts', 200],
    [`/accounts/${parent.id}`, 200],
    [`/accounts/${parent.id}/api-keys`, 200],
    [`/accounts/${parent.id}/suspend`, 405],
    ['/usage/export', 405],
  ] as const)
    t.equal((await operator('HEAD', path, { key: viewer })).status, status, path);
});

t.test('two tokens in a request are none', async (t) => {
  for (const values of [
    [viewer, support],
    [support, viewer],
  ]) {
    const headers = values.map((token) => ['Authorization', `Bearer ${token}`] as const);
    t.equal((await operator('POST', `/accounts/${parent.id}/suspend`, { key: '', headers })).status, 401);
  }
});

t.test('the public parts of the internal listener show no token and no operator', async (t) => {
  for (const path of ['/metrics', '/livez', '/readyz', '/admin/v1/openapi.json', '/admin/v1/docs']) {
    const { body, status } = await rawRequest(
      t,
      Number(port),
      requestText('GET', path, [['Connection', 'close']]),
    );
    t.ok(status === 200 || status === 503, path);
    for (const secret of [viewer, support]) t.notOk(body.includes(secret), path);
  }
});
