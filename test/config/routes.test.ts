// class: pure
import t from 'tap';
import { configFile, faultsOf, goodConfig, settingTakes } from '../support/config-files.ts';

t.test('a route takes what it does not say from route_defaults, key by key', (t) => {
  const CONFIG = configFile(
    t,
    `
route_defaults:
  host: upstream
  timeouts: {connect_ms: 1, headers_ms: 2}
  scopes: {read: a:read}
routes:
  - {prefix: /plain, upstream: "http://a"}
  - {prefix: /own, upstream: "http://b", host: preserve, timeouts: {headers_ms: 3}, scopes: {write: b:write}}
`,
  );
  t.match(goodConfig({ CONFIG }).routes, [
    {
      host: 'upstream',
      timeouts: { connectMs: 1, headersMs: 2, bodyMs: 60000 },
      scopes: { read: 'a:read', write: null },
    },
    {
      host: 'preserve',
      timeouts: { connectMs: 1, headersMs: 3, bodyMs: 60000 },
      scopes: { read: 'a:read', write: 'b:write' },
    },
  ]);
  t.end();
});

settingTakes(
  t,
  'a prefix is a path that every server reads alike, and none of management',
  (prefix) => `routes: [{prefix: "${prefix}", upstream: "http://a"}]`,
  {
    good: ['/', '/rates', '/v1', '/v1/sub-accounts-report', '/a/b.c/~d', '/..a'],
    bad: [
      ...['rates', '/rates/', '//rates', '/a//b', '/a/./b', '/a/..', '/a%2fb', '/a;b', '/a\\\\b', '/a b'],
      ...['/a?b', '/a#b', '/v1/sub-accounts', '/v1/sub-accounts/x', '/V1/SUB-ACCOUNTS'],
    ],
  },
);

t.test('two prefixes that some server takes for one path are rejected', (t) => {
  const CONFIG = configFile(
    t,
    'routes: [{prefix: /a, upstream: "http://a"}, {prefix: /A, upstream: "http://b"}]',
  );
  t.match(faultsOf({ CONFIG }), [{ detail: 'is the same path as routes[0].prefix' }]);
  const both = configFile(t, 'upstream_url: "http://a"\nroutes: [{prefix: /, upstream: "http://b"}]');
  t.match(faultsOf({ CONFIG: both }), [{ detail: /leave one of them out/ }]);
  t.end();
});

settingTakes(
  t,
  'an upstream is a server without a path, and not this gateway',
  (upstream) => `upstream_url: "${upstream}"`,
  {
    good: ['http://app', 'http://app:3000/', 'https://[::1]:8443', 'unix:/run/app.sock'],
    bad: [
      ...['app:3000', 'http://', 'http://app/base', 'http://app/?q', 'http://app?', 'http://user@app'],
      ...['ftp://app', 'unix:run/app.sock', 'http://127.0.0.1:8080', 'http://localhost:9090'],
    ],
  },
);

t.test('proxies are addresses and networks; an address is the network that holds it alone', (t) => {
  const CONFIG = configFile(t, 'trusted_proxies: [10.0.0.0/8, 192.0.2.1, "::1", "2001:db8::/32"]');
  t.same(goodConfig({ CONFIG }).trustedProxies, ['10.0.0.0/8', '192.0.2.1/32', '::1/128', '2001:db8::/32']);
  for (const wrong of ['10.0.0.0/33', '::/129', '10.0.0', '10.0.0.0/8/8', '10.0.0.0/', 'proxy.internal']) {
    t.equal(faultsOf({ CONFIG: configFile(t, `trusted_proxies: ["${wrong}"]`) }).length, 1, wrong);
  }
  t.end();
});

t.test('both listeners on one address are rejected; any free port for both is not', (t) => {
  t.equal(faultsOf({ PORT: '9090' }).length, 1);
  t.equal(faultsOf({ PORT: '9090', HOST: '0.0.0.0' }).length, 1);
  t.equal(faultsOf({ PORT: '9090', HOST: '10.0.0.1' }).length, 0);
  t.equal(faultsOf({ PORT: '0', INTERNAL_PORT: '0' }).length, 0);
  t.end();
});

settingTakes(t, 'a header prefix drops no ordinary header', (prefix) => `headers: {prefix: "${prefix}"}`, {
  good: ['X-Acme-', 'Tenant-'],
  bad: ['X-', 'X-Forwarded-', 'Content-', 'Acme', 'Ac me-'],
});

t.test('an upstream is not the listener itself, by whatever address', async (t) => {
  for (const [host, upstream, loops] of [
    ['127.0.0.1', 'http://localhost:8080', true],
    ['0.0.0.0', 'http://127.0.0.1:8080', true],
    ['::1', 'http://[::1]:8080', true],
    ['10.1.2.3', 'http://10.1.2.3:8080', true],
    ['fd00::1', 'http://[fd00::1]:8080', true],
    ['10.1.2.3', 'http://10.1.2.3:8081', false],
    ['10.1.2.3', 'http://127.0.0.1:8080', false],
    ['0.0.0.0', 'http://api:8080', false],
  ] as const) {
    const CONFIG = configFile(t, `listen: {host: "${host}", port: 8080}\nupstream_url: ${upstream}\n`);
    const found = faultsOf({ CONFIG }).some(({ detail }) => detail.includes('requests would loop'));
    t.equal(found, loops, `${upstream} of a listener on ${host}`);
  }
});

t.test('a route is open only if it says so, with a limit and without scopes', (t) => {
  const routes = (text: string): ReturnType<typeof faultsOf> =>
    faultsOf({ CONFIG: configFile(t, `routes: [{prefix: /, upstream: "http://a", ${text}}]`) });
  t.strictSame(routes('authentication: none, open_per_second: 5'), []);
  t.match(routes('authentication: none'), [{ detail: /is required with/ }]);
  t.match(routes('open_per_second: 5'), [{ detail: /has no effect without/ }]);
  t.match(routes('authentication: none, open_per_second: 5, scopes: {read: a}'), [
    { detail: /cannot be asked/ },
  ]);
  for (const wrong of ['None', 'false', '"off"', '""', 'null', '[none]', 'no'])
    t.not(routes(`authentication: ${wrong}, open_per_second: 5`).length, 0, wrong);
  for (const wrong of ['0', '-1', '1.5', '"5"'])
    t.not(routes(`authentication: none, open_per_second: ${wrong}`).length, 0, wrong);
  const inherited = 'route_defaults: {authentication: none, open_per_second: 5}\n';
  t.equal(
    faultsOf({ CONFIG: configFile(t, `${inherited}routes: [{prefix: /, upstream: "http://a"}]`) }).length,
    2,
  );
  t.end();
});

t.test('an open route inherits everything but scopes', (t) => {
  const CONFIG = configFile(
    t,
    [
      'route_defaults: {scopes: {read: a, write: b}, connections: 7}',
      'routes:',
      '  - {prefix: /, upstream: "http://a"}',
      '  - {prefix: /login, upstream: "http://a", authentication: none, open_per_second: 5}',
    ].join('\n'),
  );
  t.match(goodConfig({ CONFIG }).routes, [
    { open: null, scopes: { read: 'a', write: 'b' }, connections: 7 },
    { open: { perSecond: 5 }, scopes: { read: null, write: null }, connections: 7 },
  ]);
  t.end();
});
