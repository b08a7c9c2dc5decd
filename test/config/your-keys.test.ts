// class: pure
import t from 'tap';
import { configFile, faultsOf, goodConfig, settingTakes } from '../support/config-files.ts';

settingTakes(
  t,
  'a header with a meaning of its own cannot carry API keys',
  (name) => `headers: {prefix: Acme-}\nauthentication: {headers: [Fine-Key, "${name}"]}`,
  {
    good: ['X-API-Key', 'Ocp-Apim-Subscription-Key', 'api_key'],
    bad: [
      ...['Authorization', 'Proxy-Authorization', 'Host', 'Connection', 'Keep-Alive', 'TE', 'Trailer'],
      ...['Transfer-Encoding', 'transfer_encoding', 'Upgrade', 'Content-Length', 'Content-Type', 'Cookie'],
      ...['Expect', 'Origin', 'Sec-WebSocket-Protocol', 'Idempotency-Key', 'X-Forwarded-For', 'X-Request-Id'],
      ...['X-HTTP-Method-Override', 'X-Service-Acting-Tenant', 'X-Service-Key', 'Acme-Key', 'x api key'],
      ...['', 'Fine_Key'],
    ],
    where: 'authentication.headers[1]',
  },
);

for (const { where, ...schemes } of [
  { good: ['[Bearer]', '[Basic, ApiKey, Token, Bearer]'], bad: ['[Basic]', '[]', 'Basic'], where: 'schemes' },
  { good: [], bad: ['[bearer]'], where: 'schemes[0]' },
  { good: [], bad: ['[Bearer, Digest]'], where: 'schemes[1]' },
  { good: [], bad: ['[Bearer, Basic, Basic]'], where: 'schemes[2]' },
])
  settingTakes(t, `faults of ${where}`, (list) => `authentication: {schemes: ${list}}`, {
    ...schemes,
    where: `authentication.${where}`,
  });

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

const docs = 'https://docs.example.com/errors';
settingTakes(t, 'what types of problems begin with', (base) => `problems: {type_base: "${base}"}`, {
  good: ['urn:example:problem:', `${docs}/`, `${docs}#`],
  bad: [docs, '/errors/', 'about:blank', 'https://docs.example.com/a b/', 'https://:80/'],
});

settingTakes(t, 'what new keys begin with', (prefix) => `keys: {prefix: "${prefix}"}`, {
  good: ['tgw', 'acme', 'acme_live', 'A1', 'elevenchars'],
  bad: ['twelve_chars', 'tgs', 'acme_', '_acme', 'acme__live', '1acme', 'acme-live', ''],
});
