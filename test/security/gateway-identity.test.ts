// class: app
import t from 'tap';
import { authorizationOf } from '../support/credential-forms.ts';
import { startGateway, startProxied } from '../support/gateway.ts';
import { startUpstream } from '../support/upstreams.ts';
import { openWebSocket, startWebSocketUpstream } from '../support/websockets.ts';

/** Headers in which gateways and proxies say who the caller is, as their documentation spells them. */
const said: Readonly<Record<string, string>> = {
  'Kong, APISIX':
    'X-Consumer-ID X-Consumer-Username X-Consumer-Custom-ID X-Consumer-Groups X-Credential-Identifier X-Credential-Username X-Anonymous-Consumer X-Authenticated-Userid X-Authenticated-Scope X-Authenticated-Groups X-Userinfo X-ID-Token',
  'WSO2, RapidAPI, 3scale':
    'X-JWT-Assertion X-RapidAPI-User X-RapidAPI-Proxy-Secret X-Mashape-User X-3scale-Proxy-Secret-Token',
  Amazon:
    'X-Amzn-Oidc-Identity X-Amzn-Oidc-Data X-Amzn-Oidc-Accesstoken X-Amzn-Mtls-Clientcert X-Amzn-Mtls-Clientcert-Subject X-Amzn-Ava-User-Context X-Amzn-Request-Context X-Amzn-Lambda-Context X-Apigateway-Event X-Apigateway-Context',
  Google:
    'X-Goog-Authenticated-User-Email X-Goog-Iap-Jwt-Assertion X-Endpoint-API-UserInfo X-Apigateway-Api-Userinfo X-Client-Cert-Present X-Client-Cert-Spiffe',
  Microsoft:
    'X-MS-Client-Principal X-MS-Client-Principal-Id X-MS-Token-AAD-Id-Token X-MS-Token-Google-Access-Token X-ARR-ClientCert MS-ASPNETCORE-CLIENTCERT AspFilterSessionId',
  'Cloudflare, Vercel, Snowflake, Replit':
    'Cf-Access-Authenticated-User-Email Cf-Access-Jwt-Assertion Cf-Client-Cert-Sha256 X-Vercel-Oidc-Token Sf-Context-Current-User X-Replit-User-Id',
  'Pomerium, Vouch, oauth2-proxy, Authelia, authentik':
    'X-Pomerium-Claim-Email X-Pomerium-Jwt-Assertion X-Vouch-User X-Vouch-Idp-Claims-Email X-Auth-Request-User X-Auth-Request-Email X-Forwarded-User X-Forwarded-Groups GAP-Auth Remote-User Remote-Groups X-Authentik-Username',
  'Traefik, Caddy, Louketo, Teleport, Tailscale, ngrok':
    'X-Auth-User X-WebAuth-User X-Forwarded-Tls-Client-Cert X-Token-User-Email X-Token-Subject X-Auth-Username X-Auth-Userid X-Auth-Roles Teleport-Jwt-Assertion Tailscale-User-Login ngrok-auth-user-email',
  'Envoy, Istio, Kubernetes, Kubeflow, Dapr':
    'X-Forwarded-Client-Cert X-Jwt-Payload Sec-Istio-Auth-Userinfo X-Remote-Extra-Scopes Impersonate-User Impersonate-Group kubeflow-userid Dapr-Caller-App-Id L5d-Client-Id',
  'services that believe a proxy':
    'X-Scope-OrgID THANOS-TENANT X-Proxy-User X-Proxy-Roles X-ProxiedEntitiesChain X-Auth-CouchDB-UserName X-Spinnaker-User X-OpenWebUI-User-Id X-Rh-Identity Gitlab-Workhorse-Api-Request X-Sandstorm-User-Id X-SSO-User',
  'certificates: RFC 9440, nginx, HAProxy, F5':
    'Client-Cert Client-Cert-Chain SSL-Client-Cert X-SSL-Client-S-DN X-SSL-Cert X-SSL-CERT Ssl-Cert X-Client-DN X-Client-Verify X-Tls-Client-Subject SSLClientCertSubject',
  'access managers':
    'IV-User IV-Creds SM-User SM-UserDN OAM-Remote-User Osso-User-Dn Shib-Session-Id OIDC-Claim-Sub $WSRU',
  'not identity, but no less a proxy’s word':
    'X-Original-Forwarded-For X-Path-Info X-ProxyScheme X-Proxy-Path X-Https Fly-Forwarded-Proto CloudFront-Viewer-Address X-Azure-FDID X-Akamai-Client-Ip',
};
const names = Object.values(said).flatMap((text) => text.split(' '));
const spellings = names.flatMap((name) => [name, name.toUpperCase(), name.replaceAll('-', '.')]);

t.test('no identity that another gateway would state reaches an upstream from a client', async (t) => {
  const { upstream, call } = await startProxied(t);
  for (let i = 0; i < spellings.length; i += 50) {
    await call('GET', '/', { headers: all(spellings.slice(i, i + 50), 'forged') });
    t.same(valued(upstream.received.at(-1)?.rawHeaders, 'forged'), []);
  }
  const webSockets = await startWebSocketUpstream(t);
  const { port, parent } = await startGateway(t, { routes: { '/': webSockets.url } });
  for (let i = 0; i < names.length; i += 50) {
    const headers = { authorization: authorizationOf(parent.key), ...all(names.slice(i, i + 50), 'forged') };
    await openWebSocket(t, port, '/', headers);
    t.same(valued(webSockets.handshakes.at(-1)?.rawHeaders, 'forged'), []);
  }
});

t.test('a trusted proxy may state each of them', async (t) => {
  const { upstream, call } = await startProxied(t, { trustedProxies: ['127.0.0.0/8'] });
  for (let i = 0; i < names.length; i += 50) {
    const some = names.slice(i, i + 50);
    await call('GET', '/', { headers: all(some, 'said') });
    t.same(valued(upstream.received.at(-1)?.rawHeaders, 'said').sort(), some.toSorted());
  }
});

t.test('a route lets by the ones it lists, as they were written, and no others', async (t) => {
  const upstream = await startUpstream(t);
  const { call } = await startGateway(t, {
    routes: {
      '/': upstream.url,
      '/listed': { upstream: upstream.url, passHeaders: ['x-userinfo', 'x-real-ip'] },
    },
  });
  const headers = {
    'X-UserInfo': 'sent',
    'X.UserInfo': 'sent',
    X_UserInfo: 'sent',
    'X-Real-IP': 'sent',
    'IV-User': 'sent',
  };
  await call('GET', '/listed', { headers });
  t.same(valued(upstream.received[0]?.rawHeaders, 'sent'), ['X-UserInfo']);
  await call('GET', '/', { headers });
  t.same(valued(upstream.received[1]?.rawHeaders, 'sent'), []);
});

t.test('credentials of clients, and names that everybody uses, pass', async (t) => {
  const { upstream, call } = await startProxied(t);
  const own =
    'X-Api-Key X-Auth-Token X-Auth-Key X-Access-Token X-Session-Token X-User-Id X-User-Email X-Tenant-Id X-Client-Id X-Client-Version X-Amz-Date X-Amzn-Trace-Id X-Goog-Api-Key X-Goog-Api-Client X-MS-Client-Request-Id CF-Ray CDN-Loop Fastly-Key X-Serverless-Authorization X-Ssh-Key X-Nextjs-Data Next-Url RSC X-Consumer Client-Certainty X-Vercel-Protection-Bypass ngrok-skip-browser-warning Traceparent';
  await call('GET', '/', { headers: all(own.split(' '), 'sent') });
  t.same(valued(upstream.received[0]?.rawHeaders, 'sent').sort(), own.split(' ').sort());
});

function all(names: readonly string[], value: string): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, value]));
}

function valued(rawHeaders: readonly string[] | undefined, value: string): string[] {
  return (rawHeaders ?? [value, value]).filter((_, i, list) => i % 2 === 0 && list[i + 1] === value);
}
