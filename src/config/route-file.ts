import { Type, type Static } from 'typebox';
import { flag, integer, list, oneOf, optionalList, optionalSection, section, text } from './keys.ts';

/** What a route may set, and `route_defaults` for all of them. */
export const routeSettings = {
  client: oneOf(
    "What forwards requests: the gateway's own HTTP/1.1 client (`native`), or @fastify/http-proxy (`undici`), for an upstream that the first cannot talk to.",
    ['native', 'undici'],
    { default: 'native' },
  ),
  host: oneOf(
    "What the upstream gets as `Host`: the client's (`preserve`) or its own name (`upstream`).",
    ['preserve', 'upstream'],
    { default: 'preserve' },
  ),
  pass_authorization: flag(
    "Pass the caller's `Authorization` on. It holds the API key: leave it off unless the upstream must see it.",
    { default: false },
  ),
  underscore_headers: list(
    'Client headers whose names hold `_` and that are passed on all the same, in any case. All others are dropped: some servers take them for variables of their own, or for the same names with `-`.',
    Type.String({ format: 'underscore-name' }),
    { examples: [['api_version']] },
  ),
  preflight: oneOf(
    'A CORS preflight without a key: `authenticate` responds with 401, `pass` forwards it without any identity. Without meaning where the route has `cors`.',
    ['authenticate', 'pass'],
    { default: 'authenticate' },
  ),
  cors: optionalSection(
    'Lets pages of other origins use the route (CORS): the gateway responds to preflights, without a key, and says who may read a response, problems included. It replaces what the upstream says about that.',
    {
      origins: list(
        'Origins of the pages, as browsers send them, or `*` for all of them.',
        Type.String({ format: 'origin' }),
        {},
      ),
      headers: optionalList(
        'Request headers that a page may set; left out, `Authorization`, `Content-Type`, the acting header and those of `authentication.headers`.',
        Type.String({ format: 'header-name' }),
      ),
      expose: optionalList(
        'Response headers that a page may read; left out, `X-Request-Id`, `Retry-After`, `RateLimit`, `RateLimit-Policy` and the resolved tenant.',
        Type.String({ format: 'header-name' }),
      ),
      credentials: flag('Let pages send cookies; not with `*`. An API key in `Authorization` needs none.', {
        default: false,
      }),
      max_age_s: integer('Seconds for which a browser may remember the response to a preflight.', {
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
  scopes: section('Scopes a caller must hold.', {
    read: Type.Optional(text('For `GET`, `HEAD` and `OPTIONS`; left out, none.', { format: 'scope' })),
    write: Type.Optional(
      text('For `POST`, `PUT`, `PATCH` and `DELETE`; left out, none.', { format: 'scope' }),
    ),
  }),
  timeouts: section('How long to wait for the upstream.', {
    connect_ms: integer('To connect, TLS included.', { minimum: 1, maximum: 600_000, default: 5_000 }),
    headers_ms: integer(
      "From the end of the request to the end of the response's headers, interim responses included.",
      {
        minimum: 1,
        maximum: 3_600_000,
        default: 60_000,
      },
    ),
    body_ms: integer("Between two pieces of the response's body; 0 waits for ever (long streams).", {
      minimum: 0,
      maximum: 86_400_000,
      default: 60_000,
    }),
  }),
  connections: integer(
    'Connections to the upstream at most, those of WebSockets aside; more requests wait. One tenant gets half of them at most.',
    { minimum: 1, maximum: 100_000, default: 256 },
  ),
  websockets: Type.Optional(
    integer(
      'WebSockets at most; more get 429. One tenant gets half of them at most. Left out: as many as `limits.max_connections`.',
      { minimum: 1, maximum: 10_000_000 },
    ),
  ),
  tls: section('For `https:` upstreams. Their certificate is always verified.', {
    ca_file: Type.Optional(text("Authorities to trust in place of the system's, PEM.")),
    cert_file: Type.Optional(text('Certificate the gateway shows the upstream (mutual TLS), PEM.')),
    key_file: Type.Optional(text('Private key of that certificate, PEM.')),
    server_name: Type.Optional(
      text("Name the upstream's certificate must be for, where it is not the one in its address.", {
        format: 'hostname',
      }),
    ),
  }),
};

/** One entry of `routes`. */
export const routeFile = Type.Object(
  {
    prefix: text(
      'Path that starts the route, in whole segments: `/rates` takes `/rates` and `/rates/1`, not `/rates2`. Paths are not rewritten.',
      { format: 'route-prefix' },
    ),
    upstream: text('`http://host:port`, `https://host:port` or `unix:/path/to.sock`.', {
      format: 'upstream-url',
    }),
    ...routeSettings,
  },
  { additionalProperties: false },
);

/** A route with every setting filled in: its own, that of `route_defaults`, or the default. */
export type RouteFile = Static<typeof routeFile>;
export type RouteSettings = Omit<RouteFile, 'prefix' | 'upstream'>;
