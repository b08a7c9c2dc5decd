/**
 * Headers that proxies, gateways and load balancers use to describe a request to the services behind them, grouped by
 * subject. Frameworks and common middleware believe them no matter who sent them, so only trusted proxies may send
 * them. A `*` at the end of a name matches any text. All names are folded (see `foldHeaderName`).
 *
 * A name is listed if a published product sends or believes it without being told to. Names that everybody uses with a
 * meaning of their own (`X-User-Id`) are not, nor credentials that a service has to check anyway (`X-Auth-Token`).
 * `docs/upstreams.md` has the same list.
 */
export const saidByProxies = {
  // The request's id in logs; the gateway generates one if it does not trust the sender.
  id: listed('x-request-id'),
  // The client's address, as sent by CDNs and load balancers and read by libraries such as request-ip. Rate limits and
  // allow lists depend on it.
  address: listed(`
    forwarded* x-forwarded* x-forward-for z-forwarded-for x-original-for* x-original-ip x-original-remote-addr
    x-real-ip x-real-port x-remote-addr x-remote-host x-remote-ip x-originating-ip x-custom-ip-authorization
    client-ip x-client-ip x-cluster-client-ip true-client-* x-true-ip x-true-client-ip
    akamai-* x-akamai-* ali-cdn-real-ip cdn-src-ip x-cdn-src-ip cf-connecting-* cf-ip* cf-pseudo-ipv4
    cloudfront-viewer-* do-connecting-ip fastly-client* fastly-ff fastly-temp-xff fly-client-ip fly-forwarded-*
    incap-client-ip x-appengine-* x-azure-* x-fd-* x-nf-* x-sucuri-* x-vercel-forwarded-for x-vercel-ip-*
    x-vercel-prox*`),
  // The request target before a proxy rewrote it. Frameworks may choose a handler by this target, but the gateway has
  // chosen the route by the actual path. Software that sends or reads these headers:
  // - X-Script-Name: Flask's ReverseProxied, klaus, Django
  // - X-Original-URL, X-Rewrite-URL: IIS, Zend, Symfony, WordPress
  // - others: Envoy, Traefik, Plack, Paste, Mojolicious, Dancer, repoze.vhm, Next.js, OpenNext, Azure, Netlify, Cloud
  //   Foundry, Home Assistant, NiFi
  path: listed(`
    script-name x-script-name path-info x-path-info request-base x-request-base x-request-uri x-request-path
    x-rewrite-url x-rewrite-uri x-replaced-path x-original-url x-original-uri x-original-path x-original-prefix
    x-original-query x-original-method x-envoy-* x-nginx-* x-proxy* x-traversal-path x-vhm-* x-matched-path
    x-invoke-path x-invoke-query x-middleware-* x-now-route-matches x-opennext-* x-ms-original-url
    x-waws-unencoded-url x-vercel-original-* x-cf-forwarded-url x-ingress-path x-base-path x-path-prefix`),
  // The host, which services use to build links and choose tenants; l5d is Linkerd.
  host: listed('x-host x-http-host-override x-original-host x-real-host x-gateway-host disguised-host l5d-*'),
  // Whether the client connected over TLS.
  scheme: listed(`
    x-scheme x-url-scheme x-url-proto x-original-proto x-original-scheme x-https front-end-https front-end-proto
    cf-visitor cloudfront-forwarded-proto fastly-ssl x-amzn-tls-* x-appservice-proto`),
  // Headers that tell a server which file to send. For example, Rack::Sendfile builds a path for nginx from an
  // X-Accel-Mapping that it does not check.
  files: listed('x-accel-* x-sendfile*'),
  // The caller's identity or tenant. By line or two: conventions of many proxies and of services that believe them;
  // certificates (RFC 9440, nginx, HAProxy, F5, Google); Kong, APISIX, WSO2 and other API gateways; Amazon; Microsoft;
  // Google, Cloudflare, Vercel; proxies that sign users in; meshes and platforms; IBM, CA, Oracle and other access
  // managers.
  identity: listed(`
    auth-user remote-user* remote-name remote-email remote-groups x-remote-user* x-remote-group* x-remote-extra-*
    x-auth-user* x-auth-email x-auth-subject x-auth-groups x-auth-roles x-auth-audience x-auth-claim*
    x-auth-couchdb-* x-authenticated-* x-webauth-* x-sso-* x-identity x-identity-status impersonate-* x-proxied-*
    x-proxiedentities* x-proxy-user* x-proxy-roles* x-proxy-remote-user* x-scope-orgid thanos-tenant
    client-cert client-cert-chain x-client-cert* x-client-verify* x-client-dn x-client-s-dn x-client-subject* x-spiffe* x-ssl*
    ssl-client* ssl-cert* ssl-subject* sslclient* x-subject-dn x-tls-client-*
    x-consumer-* x-credential-* x-anonymous-consumer x-kong-* x-userinfo x-id-token x-jwt-assertion x-jwt-payload
    x-jwt-claim* x-mashape-* x-rapidapi-* x-3scale-* x-unkey-*
    x-amzn-apigateway-* x-amzn-ava-* x-amzn-lambda-context x-amzn-mtls-* x-amzn-oidc-* x-amzn-request-context
    x-apigateway-*
    aspfiltersessionid ms-aspnetcore-* x-arr-* x-ms-client-principal* x-ms-token-*
    x-endpoint-api-* x-goog-authenticated-* x-goog-iap-* cf-access-authenticated-* cf-access-jwt-* cf-client-cert*
    x-vercel-oidc-*
    gap-auth gap-signature ngrok-auth-* oidc-* tailscale-* teleport-* x-auth-request-* x-authentik-* x-pomerium-*
    x-token-claim* x-token-subject x-token-user* x-vouch-*
    dapr-callee-* dapr-caller-* gitlab-workhorse-* kubeflow-* sec-istio-* sf-context-* x-cf-proxy-* x-exedev-*
    x-istio-* x-kubernetes-user x-openwebui-* x-replit-* x-rh-* x-sandstorm-* x-spinnaker-*
    -ws* cas-user iv-* mellon-* oam-* osso-* pf-auth-* shib-* sm-* wl-proxy-*`),
} as const;

function listed(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

/**
 * Returns what proxies say in a header: something about the caller's `identity`, or something else about the request.
 *
 * @param name folded
 * @returns `undefined` if it is no header of {@link saidByProxies}
 */
export function sayingOfProxies(name: string): 'identity' | 'forwarding' | undefined {
  if (saysIdentity(name)) return 'identity';
  return saysOther(name) ? 'forwarding' : undefined;
}

const { identity, ...others } = saidByProxies;
const saysIdentity = matcherOf(identity);
const saysOther = matcherOf(Object.values(others).flat());

function matcherOf(names: readonly string[]): (name: string) => boolean {
  const whole = new Set(names);
  // V8 shares the work on alternatives that begin alike, as long as each is plain text.
  const begun = new RegExp(
    `^(?:${names
      .filter((name) => name.endsWith('*'))
      .map((name) => name.slice(0, -1))
      .join('|')})`,
  );
  return (name) => whole.has(name) || begun.test(name);
}
