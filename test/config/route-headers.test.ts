// class: pure
import t from 'tap';
import { configFile, faultsOf, goodConfig, settingTakes } from '../support/config-files.ts';

settingTakes(
  t,
  'a header with an underscore is let by unless some server takes it for one that clients must not set',
  (name) =>
    `headers: {prefix: Acme-}\nroutes: [{prefix: /, upstream: "http://a", underscore_headers: [fine_name, "${name}"]}]`,
  {
    good: ['api_version', 'X_Legacy-Id', '_'],
    bad: [
      ...['api-version', 'a_b c', 'a.b_c', '', 'X_Service_Resolved_Tenant', 'x-service_anything'],
      ...[
        'acme_anything',
        'X_Request_Id',
        'x_forwarded-for',
        'X_Real_IP',
        'true_client_ip',
        'Content_Length',
      ],
      ...['Transfer_Encoding', 'proxy_authorization', 'X_HTTP_Method_Override', 'Keep_Alive', 'script_name'],
      ...['Path_Info', 'REMOTE_USER'],
    ],
    where: 'routes[0].underscore_headers[1]',
  },
);

settingTakes(
  t,
  'an identity header of another gateway is let by, and none that says anything else for a proxy or for this gateway',
  (name) =>
    `headers: {prefix: Acme-}\nroutes: [{prefix: /, upstream: "http://a", pass_headers: ["${name}"]}]`,
  {
    good: ['X-Userinfo', 'x-consumer-username', 'Remote-User', 'X-Scope-OrgID', 'X-Passes-Anyway'],
    bad: [
      ...['X-Forwarded-User', 'X-Real-IP', 'X-Original-URL', 'X-Request-Id', 'Host', 'Authorization'],
      ...['Acme-Resolved-Tenant', 'X-Service-Anything', 'X_Userinfo', 'X-Consumer-*', 'Connection', ''],
    ],
    where: 'routes[0].pass_headers[0]',
  },
);

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

settingTakes(
  t,
  'an origin is what a browser sends',
  (origin) => `routes: [{prefix: /, upstream: "http://a", cors: {origins: [https://a.test, "${origin}"]}}]`,
  {
    good: [
      ...[
        'https://app.example.com',
        'http://localhost:5173',
        'http://[::1]:3000',
        'capacitor://localhost',
        '*',
      ],
    ],
    bad: [
      ...['null', 'app.example.com', 'https://app.example.com/', 'https://app.example.com/path', ''],
      ...['https://App.example.com', 'https://app.example.com:443', 'https://*.example.com'],
      'https://user@app.example.com',
    ],
  },
);

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
    maxAgeMs: 600_000,
  });
  t.equal(routes[1]?.cors, null);
  t.end();
});
