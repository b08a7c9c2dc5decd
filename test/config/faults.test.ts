// class: pure
import t from 'tap';
import { formatFaults } from '../../src/config/fault.ts';
import { configFile, faultsOf, goodConfig } from '../support/config-files.ts';

t.test('all faults of a file are reported at once, each with its line, column and path', (t) => {
  const CONFIG = configFile(
    t,
    [
      'lisen: {port: 1}',
      'listen:',
      '  port: 70000',
      '  tls: {cert_file: cert.pem}',
      'migrate: yes',
      'trusted_proxies: [10.0.0.0/33]',
      'routes:',
      '  - prefix: /a/',
      '    upstream: ftp://x',
      '    timeouts: {conect_ms: 1, body_ms: -1}',
      '  - {prefix: /v1/Sub-Accounts/x}',
      '  - 7',
      'headers: {prefix: X-}',
    ].join('\n'),
  );
  const faults = faultsOf({ CONFIG, INTERNAL_PORT: 'x' });
  const found = faults.map(({ where, detail }) => `${where.replace(CONFIG, '')} ${detail}`);
  const expected: [string, RegExp][] = [
    [':1:1 lisen', /did you mean listen\?/],
    [':3:3 listen.port', /at most 65535/],
    [':4:3 listen.tls', /key_file is missing/],
    [':5:1 migrate', /true or false/],
    [':6:19 trusted_proxies[0]', /network/],
    [':8:5 routes[0].prefix', /path such as/],
    [':9:5 routes[0].upstream', /http:/],
    [':10:16 routes[0].timeouts.conect_ms', /did you mean connect_ms\?/],
    [':10:30 routes[0].timeouts.body_ms', /at least 0/],
    [':11:5 routes[1]', /upstream is missing/],
    [':11:6 routes[1].prefix', /must not lie under/],
    [':12:5 routes[2]', /mapping/],
    [':13:11 headers.prefix', /too wide/],
    ['INTERNAL_PORT', /whole number/],
  ];
  for (const [where, detail] of expected) {
    const line = found.find((text) => text.startsWith(`${where} `));
    t.match(line, detail, where);
  }
  t.equal(found.length, expected.length, 'and nothing else');
  const text = formatFaults(faults);
  for (const { where } of faults) t.match(text, where);
  t.end();
});

t.test('no fault shows a value: it may be a secret', (t) => {
  const secret = 'hunter2-secret';
  const CONFIG = configFile(
    t,
    [
      `database: {url: "mysql://u:${secret}@h/d"}`,
      `redis: {url: "http://:${secret}@h"}`,
      `internal: {admin_token: "${secret} x", port: ${secret}, admin_tokens: {a: "${secret} x", b: "${secret}", c: "${secret}"}}`,
      `upstream_url: "http://u:${secret}@h"`,
      `log: {level: ${secret}}`,
      `headers: {prefix: ${secret}}`,
    ].join('\n'),
  );
  const broken = ['database: {url: *', 'a: !', 'a: "\\q', 'x: [1]: ', 'a: @', 'a: |-'].map((start) =>
    configFile(t, `${start}${secret}`),
  );
  for (const file of [CONFIG, ...broken]) {
    const faults = faultsOf({ CONFIG: file });
    t.not(faults.length, 0);
    t.notMatch(formatFaults(faults), secret);
  }
  const faults = faultsOf({
    DATABASE_URL: secret,
    REDIS_URL: secret,
    ADMIN_TOKEN: `${secret} `,
    UPSTREAM_URL: secret,
  });
  t.equal(faults.length, 4);
  t.notMatch(formatFaults(faults), secret);
  t.end();
});

t.test('operators have names of their own, and tokens of their own', (t) => {
  const internal = (tokens: string) => ({
    CONFIG: configFile(t, `internal:\n  admin_token: "first"\n  admin_tokens: ${tokens}`),
  });
  const usual = { operator: 'operator', token: 'first', role: 'admin' };
  t.same(goodConfig(internal('{alice: "second", bob.o@example.com: "third"}')).operators, [
    usual,
    { operator: 'alice', token: 'second', role: 'admin' },
    { operator: 'bob.o@example.com', token: 'third', role: 'admin' },
  ]);
  t.same(goodConfig(internal('{alice: }')).operators, [usual]);
  for (const [tokens, where, detail] of [
    ['{alice: "first"}', /admin_tokens\.alice/, /is the token of another operator/],
    ['{alice: "a", bob: "a"}', /admin_tokens\.bob/, /is the token of another operator/],
    ['{operator: "a"}', /admin_tokens\.operator/, /other than operator/],
    ['{"a b": "a"}', /admin_tokens\.a b/, /letters, digits/],
    ['{alice: "a b"}', /admin_tokens\.alice/, /visible ASCII/],
    ['{alice: 12345}', /admin_tokens\.alice/, /must be text/],
    ['["alice"]', /admin_tokens/, /mapping/],
  ] as const)
    t.match(faultsOf(internal(tokens)), [{ where, detail }], tokens);
  t.end();
});

t.test('a key in the wrong place is told its place', (t) => {
  t.match(faultsOf({ CONFIG: configFile(t, 'port: 1') }), [
    { detail: /did you mean listen\.port or internal\.port or portal\.port\?/ },
  ]);
  t.match(faultsOf({ CONFIG: configFile(t, 'leaseMs: 1') }), [{ detail: /^unknown key/ }]);
  t.match(faultsOf({ CONFIG: configFile(t, 'coherence: {leaseMs: 1}') }), [
    { detail: /did you mean lease_ms\?/ },
  ]);
  t.end();
});
