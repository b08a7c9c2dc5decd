import { Type, type Static } from 'typebox';
import { flag, integer, list, oneOf, optionalList, optionalSection, section, text } from './setting-types.ts';

/** Settings of a route and of `route_defaults`. */
export const routeSettings = {
  client: oneOf(
    "Client that forwards requests: the gateway's own for HTTP/1.1 (`native`), or @fastify/http-proxy (`undici`) for an upstream that `native` cannot talk to.",
    ['native', 'undici'],
    { default: 'native' },
  ),
  host: oneOf(
    "`Host` that the upstream gets: the client's (`preserve`) or its own name (`upstream`).",
    ['preserve', 'upstream'],
    { default: 'preserve' },
  ),
  pass_authorization: flag(
    "Pass the caller's `Authorization` on. It holds the API key: leave this off unless the upstream must see the key.",
    { default: false },
  ),
  pass_units_header: flag(
    'Pass the response header `usage.units_header` on to clients. It says what a request was worth.',
    { default: false },
  ),
  underscore_headers: list(
    'Client headers with `_` in their names to pass on, in upper or lower case. All other such headers are dropped: some servers read them as variables of their own, or as the same names with `-`.',
    Type.String({ format: 'underscore-name' }),
    { examples: [['api_version']] },
  ),
  pass_headers: list(
    "Client headers to pass on that other gateways set to say who the caller is, such as `X-Consumer-Username`, in upper or lower case. All other such headers are dropped. The service must not take what a listed one says for the gateway's word.",
    Type.String({ format: 'header-name' }),
    { examples: [['X-Userinfo']] },
  ),
  preflight: oneOf(
    'A CORS preflight without a key: `authenticate` responds with 401, `pass` forwards it without any identity. It has no effect if the route has `cors`.',
    ['authenticate', 'pass'],
    { default: 'authenticate' },
  ),
  shared_cache: oneOf(
    'Whether caches that several clients share may keep responses: `deny` adds `private` to `Cache-Control` and removes what speaks to such caches alone, `allow` passes on what the upstream says. With `allow`, only `Vary` keeps tenants apart: CloudFront and Azure Front Door do not honour it, Cloudflare only by a rule, Akamai may remove it, and a cache goes on serving after a key is revoked. It has no effect on an open route.',
    ['deny', 'allow'],
    { default: 'deny' },
  ),
  cors: optionalSection(
    "Lets pages of other origins use the route (CORS): the gateway responds to preflights, without a key, and sets the CORS headers of every response, problems included. It replaces the upstream's CORS headers.",
    {
      origins: list(
        'Origins of the pages, as browsers send them, or `*` for all.',
        Type.String({ format: 'origin' }),
        {},
      ),
      headers: optionalList(
        'Request headers that a page may set. Left out: `Authorization`, `Content-Type`, the acting header and those of `authentication.headers`.',
        Type.String({ format: 'header-name' }),
      ),
      expose: optionalList(
        'Response headers that a page may read. Left out: `X-Request-Id`, `Retry-After`, `RateLimit`, `RateLimit-Policy` and the resolved tenant.',
        Type.String({ format: 'header-name' }),
      ),
      credentials: flag(
        'Let pages send cookies; not allowed with `*`. An API key in `Authorization` does not need this.',
        {
          default: false,
        },
      ),
      max_age_s: integer('Seconds for which a browser may cache the response to a preflight.', {
        minimum: 0,
        maximum: 86_400,
        default: 600,
      }),
    },
    {
      examples: [
        {
          origins: ['https://app.example.com'],
          headers: ['Authorization', 'Content-Type', 'X-Service-Acting-Tenant'],
          expose: [
            'X-Request-Id',
            'Retry-After',
            'RateLimit',
            'RateLimit-Policy',
            'X-Service-Resolved-Tenant',
          ],
          credentials: false,
          max_age_s: 600,
        },
      ],
    },
  ),
  scopes: section('Scopes that a caller must hold.', {
    read: Type.Optional(
      text('Scope for `GET`, `HEAD` and `OPTIONS`. Left out: none is needed.', { format: 'scope' }),
    ),
    write: Type.Optional(
      text('Scope for `POST`, `PUT`, `PATCH` and `DELETE`. Left out: none is needed.', { format: 'scope' }),
    ),
  }),
  timeouts: section('How long to wait for the upstream.', {
    connect_ms: integer('Time to connect, TLS included.', { minimum: 1, maximum: 600_000, default: 5_000 }),
    headers_ms: integer(
      "Time from the end of the request to the end of the response's headers, interim responses included.",
      {
        minimum: 1,
        maximum: 3_600_000,
        default: 60_000,
      },
    ),
    body_ms: integer("Time between two pieces of the response's body; 0 waits for ever (long streams).", {
      minimum: 0,
      maximum: 86_400_000,
      default: 60_000,
    }),
  }),
  connections: integer(
    'Most connections to the upstream, WebSockets not counted; further requests wait. A tenant gets at most half of them, a parent with all its sub-accounts at most three quarters.',
    { minimum: 1, maximum: 100_000, default: 256 },
  ),
  websockets: Type.Optional(
    integer(
      'Most open WebSockets; more get 429. A tenant gets at most half of them, a parent with all its sub-accounts at most three quarters. Left out: as many as `limits.max_connections`.',
      { minimum: 1, maximum: 10_000_000 },
    ),
  ),
  tls: section('TLS to `https:` upstreams. Their certificate is always verified.', {
    ca_file: Type.Optional(text("Authorities to trust instead of the system's, PEM.")),
    cert_file: Type.Optional(
      text('Certificate that the gateway presents to the upstream (mutual TLS), PEM.'),
    ),
    key_file: Type.Optional(text('Private key of that certificate, PEM.')),
    server_name: Type.Optional(
      text("Name that the upstream's certificate must be for, if it differs from the one in its address.", {
        format: 'hostname',
      }),
    ),
  }),
};

/** One entry of `routes`. */
export const routeFile = Type.Object(
  {
    prefix: text(
      'Path prefix in whole segments: `/rates` matches `/rates` and `/rates/1`, not `/rates2`. Paths are not rewritten.',
      { format: 'route-prefix' },
    ),
    upstream: text('`http://host:port`, `https://host:port` or `unix:/path/to.sock`.', {
      format: 'upstream-url',
    }),
    authentication: oneOf(
      'Whether requests need an API key: `required`, or `none` for an open route, such as a login page or webhooks of others. An open route passes no identity on, meters nothing, and needs `open_per_second`.',
      ['required', 'none'],
      { default: 'required' },
    ),
    open_per_second: Type.Optional(
      integer(
        "Most requests per second that a client's network may send to an open route, in each process; more get 429. Ten seconds' worth may come at once. Behind a proxy, name it in `trusted_proxies`: otherwise all its clients are one network.",
        { minimum: 1, maximum: 1_000_000 },
      ),
    ),
    ...routeSettings,
  },
  { additionalProperties: false },
);

/** A route with every setting filled in: from the route itself, from `route_defaults`, or from the default. */
export type RouteFile = Static<typeof routeFile>;
export type RouteSettings = Omit<RouteFile, 'prefix' | 'upstream' | 'authentication' | 'open_per_second'>;
