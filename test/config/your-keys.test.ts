// class: pure
import t from 'tap';
import { configFile, faultsOf, goodConfig } from '../support/config-files.ts';

const keyHeaders: readonly (readonly [string, boolean])[] = [
  ['X-API-Key', true],
  ['Ocp-Apim-Subscription-Key', true],
  ['api_key', true],
  ['Authorization', false],
  ['Proxy-Authorization', false],
  ['Host', false],
  ['Connection', false],
  ['Keep-Alive', false],
  ['TE', false],
  ['Trailer', false],
  ['Transfer-Encoding', false],
  ['transfer_encoding', false],
  ['Upgrade', false],
  ['Content-Length', false],
  ['Content-Type', false],
  ['Cookie', false],
  ['Expect', false],
  ['Origin', false],
  ['Sec-WebSocket-Protocol', false],
  ['Idempotency-Key', false],
  ['X-Forwarded-For', false],
  ['X-Request-Id', false],
  ['X-HTTP-Method-Override', false],
  ['X-Service-Acting-Tenant', false],
  ['X-Service-Key', false],
  ['Acme-Key', false],
  ['x api key', false],
  ['', false],
  ['Fine_Key', false],
];
for (const [name, good] of keyHeaders) {
  t.test(`a header ${name} ${good ? 'may' : 'cannot'} carry API keys`, (t) => {
    const yaml = `headers: {prefix: Acme-}\nauthentication: {headers: [Fine-Key, "${name}"]}`;
    const faults = faultsOf({ CONFIG: configFile(t, yaml) });
    t.equal(faults.length, good ? 0 : 1);
    if (!good) t.match(faults[0]?.where, /authentication\.headers\[1\]$/);
    t.end();
  });
}

for (const [schemes, where] of [
  ['[Bearer]', undefined],
  ['[Basic, ApiKey, Token, Bearer]', undefined],
  ['[Bearer, Digest]', 'authentication.schemes[1]'],
  ['[bearer]', 'authentication.schemes[0]'],
  ['[Bearer, Basic, Basic]', 'authentication.schemes[2]'],
  ['[Basic]', 'authentication.schemes'],
  ['[]', 'authentication.schemes'],
  ['Basic', 'authentication.schemes'],
] as const) {
  t.test(`the schemes ${schemes} ${where === undefined ? 'are fine' : 'are a fault'}`, (t) => {
    const faults = faultsOf({ CONFIG: configFile(t, `authentication: {schemes: ${schemes}}`) });
    t.equal(faults.length, where === undefined ? 0 : 1);
    if (where !== undefined) t.match(String(faults[0]?.where).slice(-where.length), where);
    t.end();
  });
}

t.test('a header that carries API keys is not let by under another spelling', (t) => {
  const route = '{prefix: /, upstream: "http://a", underscore_headers: [x_api_key, api_version]}';
  const CONFIG = configFile(t, `authentication: {headers: [X-API-Key]}\nroutes: [${route}]`);
  t.match(faultsOf({ CONFIG }), [{ where: /underscore_headers\[0\]$/ }]);
  t.end();
});

t.test('pages may send the headers that carry API keys, where the route does not list its own', (t) => {
  const cors = 'cors: {origins: [https://a.example]}';
  const own = 'cors: {origins: [https://a.example], headers: [Content-Type]}';
  const CONFIG = configFile(
    t,
    `authentication: {headers: [X-API-Key]}\nroutes: [{prefix: /, upstream: "http://a", ${cors}}, {prefix: /b, upstream: "http://a", ${own}}]`,
  );
  const [first, second] = goodConfig({ CONFIG }).routes;
  t.strictSame(first?.cors?.headers, [
    'Authorization',
    'Content-Type',
    'X-Service-Acting-Tenant',
    'X-API-Key',
  ]);
  t.strictSame(second?.cors?.headers, ['Content-Type']);
  t.end();
});

for (const [base, good] of [
  ['urn:example:problem:', true],
  ['https://docs.example.com/errors/', true],
  ['https://docs.example.com/errors#', true],
  ['https://docs.example.com/errors', false],
  ['/errors/', false],
  ['about:blank', false],
  ['https://docs.example.com/a b/', false],
  ['https://:80/', false],
] as const) {
  t.test(`problems ${good ? 'may' : 'cannot'} have types that begin with ${base}`, (t) => {
    const faults = faultsOf({ CONFIG: configFile(t, `problems: {type_base: "${base}"}`) });
    t.equal(faults.length, good ? 0 : 1);
    t.end();
  });
}

for (const [prefix, good] of [
  ['tgw', true],
  ['acme', true],
  ['acme_live', true],
  ['A1', true],
  ['elevenchars', true],
  ['twelve_chars', false],
  ['tgs', false],
  ['acme_', false],
  ['_acme', false],
  ['acme__live', false],
  ['1acme', false],
  ['acme-live', false],
  ['', false],
] as const) {
  t.test(`new keys ${good ? 'may' : 'cannot'} begin with ${prefix}`, (t) => {
    const faults = faultsOf({ CONFIG: configFile(t, `keys: {prefix: "${prefix}"}`) });
    t.equal(faults.length, good ? 0 : 1);
    t.end();
  });
}
