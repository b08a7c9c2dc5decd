// class: pure
import t from 'tap';
import { configFile, faultsOf, goodConfig } from '../support/config-files.ts';

const underscoreNames: readonly (readonly [string, boolean])[] = [
  ['api_version', true],
  ['X_Legacy-Id', true],
  ['_', true],
  ['api-version', false],
  ['a_b c', false],
  ['a.b_c', false],
  ['', false],
  ['X_Service_Resolved_Tenant', false],
  ['x-service_anything', false],
  ['acme_anything', false],
  ['X_Request_Id', false],
  ['x_forwarded-for', false],
  ['X_Real_IP', false],
  ['true_client_ip', false],
  ['Content_Length', false],
  ['Transfer_Encoding', false],
  ['proxy_authorization', false],
  ['X_HTTP_Method_Override', false],
  ['Keep_Alive', false],
  ['script_name', false],
  ['Path_Info', false],
  ['REMOTE_USER', false],
];
for (const [name, good] of underscoreNames) {
  t.test(`a header ${name} with an underscore is ${good ? 'let by' : 'never let by'}`, (t) => {
    const list = `underscore_headers: [fine_name, "${name}"]`;
    const yaml = `headers: {prefix: Acme-}\nroutes: [{prefix: /, upstream: "http://a", ${list}}]`;
    const faults = faultsOf({ CONFIG: configFile(t, yaml) });
    t.equal(faults.length, good ? 0 : 1);
    if (!good) t.match(faults[0]?.where, /routes\[0\]\.underscore_headers\[1\]$/);
    t.end();
  });
}

t.test('a name that no route may let by is one fault, where it stands', (t) => {
  const CONFIG = configFile(
    t,
    `
route_defaults: {underscore_headers: [script_name]}
routes: [{prefix: /, upstream: "http://a"}, {prefix: /b, upstream: "http://a", underscore_headers: [Api_Version]}]
`,
  );
  const faults = faultsOf({ CONFIG });
  t.match(faults, [{ where: /route_defaults\.underscore_headers\[0\]$/ }]);
  t.equal(faults.length, 1);
  t.end();
});

t.test('names with an underscore are known in any case', (t) => {
  const CONFIG = configFile(
    t,
    'routes: [{prefix: /, upstream: "http://a", underscore_headers: [Api_Version]}]',
  );
  t.strictSame(goodConfig({ CONFIG }).routes[0]?.underscoreHeaders, ['api_version']);
  t.end();
});

const origins: readonly (readonly [string, boolean])[] = [
  ['https://app.example.com', true],
  ['http://localhost:5173', true],
  ['http://[::1]:3000', true],
  ['capacitor://localhost', true],
  ['*', true],
  ['null', false],
  ['app.example.com', false],
  ['https://app.example.com/', false],
  ['https://app.example.com/path', false],
  ['https://App.example.com', false],
  ['https://app.example.com:443', false],
  ['https://*.example.com', false],
  ['https://user@app.example.com', false],
  ['', false],
];
for (const [origin, good] of origins) {
  t.test(`origin ${origin} is ${good ? 'accepted' : 'rejected'}`, (t) => {
    const yaml = `routes: [{prefix: /, upstream: "http://a", cors: {origins: [https://a.test, "${origin}"]}}]`;
    t.equal(faultsOf({ CONFIG: configFile(t, yaml) }).length, good ? 0 : 1);
    t.end();
  });
}

t.test('cors names origins, and lets no page of any origin send cookies', (t) => {
  const CONFIG = configFile(
    t,
    `
route_defaults: {cors: {max_age_s: 5}}
routes:
  - {prefix: /taken-over, upstream: "http://a"}
  - {prefix: /b, upstream: "http://a", cors: {origins: ["*"], credentials: true}}
  - {prefix: /c, upstream: "http://a", cors: {origins: ["https://a.test"], credentials: true, headers: ["a b"]}}
`,
  );
  t.match(
    faultsOf({ CONFIG }).map(({ where }) => where.split(' ')[1]),
    ['route_defaults.cors', 'routes[1].cors.credentials', 'routes[2].cors.headers[0]'],
  );
  t.end();
});

t.test('cors left out in part is what a page needs for any request, by the names of this gateway', (t) => {
  const yaml = `
headers: {prefix: Acme-}
routes: [{prefix: /, upstream: "http://a", cors: {origins: ["https://a.test"]}}, {prefix: /b, upstream: "http://a"}]
`;
  const { routes } = goodConfig({ CONFIG: configFile(t, yaml) });
  t.strictSame(routes[0]?.cors, {
    origins: ['https://a.test'],
    headers: ['Authorization', 'Content-Type', 'Acme-Acting-Tenant'],
    expose: ['X-Request-Id', 'Retry-After', 'RateLimit', 'RateLimit-Policy', 'Acme-Resolved-Tenant'],
    credentials: false,
    maxAgeS: 600,
  });
  t.equal(routes[1]?.cors, null);
  t.end();
});
