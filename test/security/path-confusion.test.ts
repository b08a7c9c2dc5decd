// class: app
import t from 'tap';
import { startGateway, startProxied } from '../support/gateway.ts';
import { startUpstream } from '../support/upstreams.ts';

/** Spellings that some reader takes for a path under management; each must be management's or rejected. */
const towardsManagement = [
  '/v1/./sub-accounts',
  '/v1/%2e/sub-accounts',
  '/v1/x/../sub-accounts',
  '/v1/x/%2E%2e/sub-accounts',
  '/v1/x/.%2e/sub-accounts',
  '/v1/x/%252e%252e/sub-accounts',
  '/v1\\sub-accounts',
  '/v1%5Csub-accounts',
  '/v1%5csub-accounts',
  '/v1%255Csub-accounts',
  '/v1//sub-accounts',
  '//v1/sub-accounts',
  '//v1//sub-accounts',
  '//anything/v1/sub-accounts',
  '/v1%2Fsub-accounts',
  '/v1%2fsub-accounts',
  '/v1%252Fsub-accounts',
  '/%2Fv1/sub-accounts',
  '/V1/sub-accounts',
  '/v1/Sub-Accounts',
  '/v1/SUB-ACCOUNTS/x',
  '/v1/%73ub-accounts',
  '/v1/%2573ub-accounts',
  '/v1/%25252573ub-accounts',
  '/v1/sub%2Daccounts',
  '/%76%31/sub-accounts',
  '/v1;x/sub-accounts',
  '/v1;/sub-accounts',
  '/v1/;/sub-accounts',
  '/v1/sub-accounts;x=1',
  '/v1/sub-accounts;x=1/y',
  '/v1/sub-accounts%3Bx',
  '/v1/sub-accounts%3Fx',
  '/v1/sub-accounts%23x',
  '/v1/sub-accounts#x',
  '/v1/sub-accounts\u0000',
  '/v1/sub-accounts%00',
  '/v1/sub-accounts%0a',
  '/v1/..;/v1/sub-accounts',
  '/v1/x/..;a=b/sub-accounts',
  '/v1/%c5%bfub-accounts',
  '/v1%ef%bc%8fsub-accounts',
  '/v1/%ef%bd%93ub-accounts',
  '/v1/%u0073ub-accounts',
  '/v1/x/%c0%ae%c0%ae/sub-accounts',
  '/v1%c0%afsub-accounts',
  '/v1/x/%ef%bc%8e%ef%bc%8e/sub-accounts',
  '/v1/sub-accounts.',
  '/v1/sub-accounts./',
  '/v1/sub-accounts./x',
  '/v1./sub-accounts',
  '/v1/sub-accounts...',
  '/v1/sub-accounts%2e',
  '/v1/sub-accounts%20',
  '/v1/sub-accounts%20/x',
  '/v1%20/sub-accounts',
  '/v1/sub-accounts%09',
  '/v1/sub-accounts.%20',
  '/v1/sub-accounts%20.',
  '/v1/sub-accounts%20;x',
  '/v1/sub-accounts.;x/y',
  '/v1/sub-accounts%2520',
  '/v1/sub-accounts%252e',
  '/v1/sub-accounts%c2%a0',
  '/v1/sub-accounts%c2%85',
  '/v1/sub-accounts%e2%80%a8',
  '/v1/sub-accounts%ef%bb%bf',
  '/v1/sub-accounts%e3%80%80',
  '/v1/sub-accounts%ef%bc%8e',
  '/%20/v1/sub-accounts',
  '/.../v1/sub-accounts',
  '/v1/x/.../sub-accounts',
  '/v1/x/..%2E%2E/sub-accounts',
  '/v1/x/..%20/sub-accounts',
  '/v1/x/.%20./sub-accounts',
  '/v1/x/..%09/sub-accounts',
  '/v1/x/..%20.;y/sub-accounts',
  '/v1/.%20/sub-accounts',
  '/..',
  '/.',
  '/a/..',
  '/a/%2e%2e',
];

t.test('no spelling brings a management path to an upstream, nor anything else to management', async (t) => {
  const { upstream, call } = await startProxied(t);
  for (const target of towardsManagement) {
    for (const method of ['GET', 'POST', 'PUT']) {
      const response = await call(method, target);
      t.equal(response.status, 400, `${method} ${target}`);
      // What Node's parser itself rejects has no target to be invalid.
      if (!target.includes('\u0000')) t.equal(response.json().code, 'invalid_target', `${method} ${target}`);
    }
  }
  t.equal(upstream.heads, 0);
});

t.test('everything at and below the management path is the gateway’s own', async (t) => {
  const { upstream, call } = await startProxied(t);
  for (const target of [
    '/v1/sub-accounts',
    '/v1/sub-accounts/',
    '/v1/sub-accounts?x=/../y',
    '/v1/sub-accounts//x',
    '/v1/sub-accounts/x%2Fy',
    `/v1/sub-accounts/${'a'.repeat(2000)}`,
    '/v1/sub-accounts/x/y/z',
  ]) {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const response = await call(method, target);
      t.notOk(response.headers['x-service-resolved-tenant'], `${method} ${target}`);
    }
  }
  t.equal(upstream.heads, 0);
});

t.test('a target is checked before the key', async (t) => {
  const { call } = await startProxied(t);
  t.equal((await call('GET', '/v1/%2e/sub-accounts', { key: null })).status, 400);
});

t.test('a path that some reader takes to another route is rejected', async (t) => {
  const open = await startUpstream(t);
  const guarded = await startUpstream(t);
  const { call } = await startGateway(t, {
    routes: {
      '/': open.url,
      '/billing': { upstream: guarded.url, scopes: { read: 'billing:read', write: null } },
    },
  });
  for (const target of [
    '/Billing/x',
    '/billing%2Fx',
    '/%62illing/x',
    '//billing/x',
    '/x/../billing/y',
    '/billing;a/x',
    '/;/billing/x',
    '/billing%3fx',
    '/billing%5cx',
    '/billing./x',
    '/billing.',
    '/billing%20/x',
    '/billing%20',
    '/billing%09',
    '/billing+',
    '/billing+/x',
    '/billing%2B',
    '/x/..+/billing/y',
    '/b%C4%B1lling/x',
    '/b%C4%B0lling/x',
    '/x/..%20/billing/y',
  ]) {
    t.equal((await call('GET', target)).status, 400, target);
  }
  t.equal((await call('GET', '/billing/x')).json().code, 'insufficient_scope');
  t.equal((await call('GET', '/billing')).json().code, 'insufficient_scope');
  t.equal((await call('GET', '/billings')).status, 200);
  t.equal(guarded.heads, 0);
  t.equal(open.heads, 1);
});

t.test('ordinary paths go through byte for byte', async (t) => {
  const { upstream, call } = await startProxied(t);
  for (const target of [
    '/',
    '/?',
    '/a/',
    '/a//b',
    '/files/a%2Fb',
    '/files/a%2fb%20c',
    '/files/caf%C3%A9',
    '/files/caf%e9',
    '/files/%C4%AF',
    '/files/100%25',
    '/files/a;v=1/b',
    "/~user/!$&'()*+,=:@",
    '/.well-known/x',
    '/a...b/..c/d..',
    '/a./b.../c.',
    '/a%20b%20/c%20',
    '/a+b/c++',
    '/repository/+/refs/heads/main',
    '/report.json',
    '/search?q=a%00b&path=../x&u=http://y/z\\w',
    '/search?a=%zz',
    '/v1/sub-accountsx',
    '/v1',
    '/v1/',
    `/long/${'a'.repeat(4000)}`,
  ]) {
    t.equal((await call('GET', target)).status, 200, target);
    t.equal(upstream.received.at(-1)?.target, target);
  }
});
