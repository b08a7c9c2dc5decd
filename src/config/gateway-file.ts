import { Type, type Static } from 'typebox';
import {
  flag,
  fraction,
  integer,
  integerOrAuto,
  list,
  oneOf,
  optionalSection,
  section,
  text,
} from './setting-types.ts';
import { authorizationSchemes, usualSchemes, type AuthorizationScheme } from '../domain/authorization.ts';
import { operators, type OperatorEntry } from './internal/operators-file.ts';
import { database } from './database/database-file.ts';
import { limits } from './limits-file.ts';
import { portal } from './portal/portal-file.ts';
import { redis } from './redis/redis-file.ts';
import { usage } from './usage/usage-file.ts';
import { routeFile, routeSettings, type RouteFile } from './route-file.ts';

const port = { minimum: 0, maximum: 65_535 };
const age = { minimum: 1, maximum: 31_536_000 };

/**
 * Schema of the file that `CONFIG` names, and the only place that states each setting's name, meaning, range, default
 * and variable. `npm run generate` derives the JSON Schema, `config/gateway.yaml`, the list in
 * `docs/configuration.md` and the chart's schema for `config` from it.
 */
export const gatewayFile = Type.Object(
  {
    listen: section('The public listener: `/v1/sub-accounts` and everything that is proxied.', {
      host: text('Address to listen on. `0.0.0.0` or `"::"` for every interface.', {
        format: 'host',
        default: '127.0.0.1',
        env: 'HOST',
      }),
      port: integer('Port to listen on; 0 takes any free one.', { ...port, default: 8080, env: 'PORT' }),
      tls: optionalSection(
        'Serves HTTPS instead of HTTP. Both files are PEM and are read at start and on SIGHUP.',
        {
          cert_file: text('Certificate, followed by its chain.'),
          key_file: text('Private key of the certificate.'),
        },
        {
          examples: [{ cert_file: '/etc/tenancy-gateway/tls.crt', key_file: '/etc/tenancy-gateway/tls.key' }],
        },
      ),
    }),
    internal: section(
      'The internal listener: health, metrics and the operator API. Never expose it to callers.',
      {
        host: text('Address to listen on.', { format: 'host', default: '127.0.0.1', env: 'INTERNAL_HOST' }),
        port: integer('Port to listen on; 0 takes any free one.', {
          ...port,
          default: 9090,
          env: 'INTERNAL_PORT',
        }),
        admin_token: Type.Optional(
          text(
            'Bearer token of the operator API. Without a token the operator API is off on PostgreSQL; on the embedded store a token is generated and kept in `data_dir`. Prefer the variable: files are easily passed around.',
            { format: 'token', env: 'ADMIN_TOKEN' },
          ),
        ),
        admin_tokens: operators(
          'Further operators, by name. `token_file` is a file with the bearer token of the operator, and `role` is what the operator may do: `viewer` reads and explains, `support` also revokes, suspends, resumes, deactivates and reactivates, `admin` does everything and is the only role that receives secrets. A token in place of the two is an `admin`. Events name the operator whose token made a change; `admin_token` is `operator` there, and an `admin`. Read at start and on SIGHUP.',
          {
            examples: [
              {
                alice: { token_file: '/etc/tenancy-gateway/operators/alice', role: 'admin' },
                bob: { token_file: '/etc/tenancy-gateway/operators/bob', role: 'support' },
              },
            ],
          },
        ),
        admin_tokens_dir: Type.Optional(
          text(
            'Folder with a file for each further operator, as in `admin_tokens`: the name of the file is the name of the operator, its content is the token. Each is an `admin`. A Secret that Kubernetes mounts is such a folder. Read at start and on SIGHUP.',
            { env: 'ADMIN_TOKENS_DIR' },
          ),
        ),
      },
    ),
    portal,
    database,
    workers: integerOrAuto(
      'Processes that accept connections, each a replica; `auto` starts one per core. More than one needs PostgreSQL. `limits.max_connections`, `limits.in_flight_per_tenant` and the `connections` and `websockets` of a route are divided among them; every other setting of a process applies to each of them, `database.max_connections` included. In Kubernetes use more pods instead.',
      { minimum: 1, maximum: 256, default: 1, env: 'WORKERS' },
    ),
    data_dir: text('Folder of the embedded store. Not used with PostgreSQL.', {
      default: './data',
      env: 'DATA_DIR',
    }),
    redis,
    migrate: flag(
      "Bring the database's tables up to date at start, under a lock. `off` in the variable leaves that to `tenancy-gateway migrate`.",
      { default: true, env: 'MIGRATE' },
    ),
    coherence: section('How replicas avoid deciding by outdated facts.', {
      lease_ms: integer(
        'How long a replica may decide without contact to the database. A change waits this long, and for `streams_outlive_lease_s`, for a replica that hangs. A shorter time costs more small commits.',
        { minimum: 200, maximum: 60_000, default: 3_000, env: 'COHERENCE_LEASE_MS' },
      ),
      streams_outlive_lease_s: integer(
        'How long after the end of its lease a replica that cannot reach the database keeps open what hangs on a key: streams, WebSockets, running requests. More lets them live through a restart of the database; a change waits so much longer while a replica hangs.',
        { minimum: 0, maximum: 300, default: 3 },
      ),
      max_facts: integer(
        'Most keys and accounts held in memory; the least recently used are evicted first.',
        {
          minimum: 100,
          maximum: 50_000_000,
          default: 200_000,
        },
      ),
    }),
    headers: section('Names of the headers that the gateway reads and sets.', {
      prefix: text(
        'Start of these names: `X-Service-` gives `X-Service-Acting-Tenant` and `X-Service-Resolved-Tenant`. Client headers that start with it are dropped.',
        { format: 'header-prefix', default: 'X-Service-' },
      ),
    }),
    authentication: section('How requests carry their API key.', {
      schemes: list(
        'Schemes in which `Authorization` carries the key, on proxied requests and on management: `Bearer`, which is always among them, `Token`, `ApiKey`, and `Basic` (the key is the user name with an empty password, or the password). Each 401 names all of them.',
        Type.Enum([...authorizationSchemes]),
        { default: usualSchemes },
      ),
      headers: list(
        'Further headers whose whole value is an API key, on proxied requests and on management. Upstreams never get them, in any spelling. A request with two credentials gets 401.',
        Type.String({ format: 'header-name' }),
        { examples: [['X-API-Key']] },
      ),
    }),
    keys: section('API keys that the gateway creates.', {
      prefix: text(
        'Prefix of new keys, without the `_` after it; existing keys keep working. Do not choose the prefix of keys that you import: a key with this prefix needs the checksum of the gateway.',
        { format: 'key-prefix', default: 'tgw' },
      ),
    }),
    problems: section('Error bodies (RFC 9457).', {
      type_base: text(
        'Start of the `type` of a problem; the code follows it. Set it to an address of yours that explains each code.',
        { format: 'problem-base', default: 'urn:tenancy-gateway:problem:' },
      ),
    }),
    reference: section('The API reference for parents, which needs no key.', {
      enabled: flag('Serve `/v1/sub-accounts/docs` and `/v1/sub-accounts/openapi.json`.', { default: true }),
      title: Type.Optional(
        text('Title of both, such as the name of your API, instead of the gateway’s.', {
          examples: ['Acme API: sub-accounts'],
        }),
      ),
    }),
    trusted_proxies: list(
      'Addresses and networks (CIDR) of proxies in front of the gateway. Their `X-Forwarded-*` and `X-Request-Id` are believed.',
      Type.String({ format: 'cidr' }),
      { examples: [['10.0.0.0/8', '::1']] },
    ),
    management: section('The management API under `/v1/sub-accounts`.', {
      require_acting_header: flag(
        'Require the acting header on management writes too, once the caller has active sub-accounts.',
        { default: false },
      ),
    }),
    server: section('Connections of clients, to every listener.', {
      max_connection_age_s: integer(
        'Age in seconds, give or take a fifth, from which a connection ends: its next response says `Connection: close`. Clients thus reach new replicas. Streams and WebSockets go on. Connections from `trusted_proxies` have no limit.',
        { ...age, default: 300 },
      ),
    }),
    upstream: section('Connections to upstreams, of every route.', {
      max_connection_age_s: integer(
        "Age in seconds, give or take half of it, from which a connection carries no further request, so that new addresses of an upstream's name come into use. Responses, streams and WebSockets go on.",
        { ...age, default: 30 },
      ),
    }),
    upstream_url: Type.Optional(
      text(
        'Upstream of every path that no route matches: `http://host:port`, `https://host:port` or `unix:/path/to.sock`. With one upstream, this is the whole configuration. As a variable it also overrides the upstream of a route `/`.',
        { format: 'upstream-url', env: 'UPSTREAM_URL' },
      ),
    ),
    route_defaults: section('Settings of every route that does not set its own.', routeSettings),
    routes: list(
      'Upstreams by path. The longest prefix wins, prefixes match whole segments, paths are not rewritten. A path that no route matches gets 404.',
      routeFile,
      {
        examples: [
          [
            {
              prefix: '/rates',
              upstream: 'http://rates.internal:8000',
              scopes: { read: 'rates:read', write: 'rates:write' },
            },
            {
              prefix: '/tracking',
              upstream: 'https://tracking.internal',
              host: 'upstream',
              timeouts: { body_ms: 0 },
            },
            {
              prefix: '/login',
              upstream: 'http://accounts.internal:8000',
              authentication: 'none',
              open_per_second: 5,
            },
          ],
        ],
      },
    ),
    limits,
    events: section(
      'Changes through the management API and the operator API, and who made them (docs/events.md).',
      {
        retention_days: integer('Days for which events are kept.', {
          minimum: 1,
          maximum: 36_500,
          default: 400,
        }),
        address_retention_days: integer(
          'Days for which events keep the addresses of clients. Older events stay without them.',
          { minimum: 1, maximum: 36_500, default: 90 },
        ),
        bytes_per_day: integer(
          'Bytes of events that the changes of one parent may leave in a day (UTC), over all replicas; a portal session may use a twentieth. More changes get 429, but none that only takes rights away. Operators have no limit.',
          { minimum: 1_048_576, maximum: 1_099_511_627_776, default: 268_435_456 },
        ),
      },
    ),
    usage,
    log: section('Logs go to standard output, one JSON object a line.', {
      level: oneOf(
        'Least severe level that is written. Requests are logged at `info`.',
        ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
        { default: 'info', env: 'LOG_LEVEL' },
      ),
      sample_2xx: fraction(
        'Fraction of proxied requests with a 2xx response that are logged. All other requests, management calls and operator calls are always logged.',
        { default: 1, env: 'LOG_SAMPLE_2XX' },
      ),
    }),
    tracing: section(
      'Traces of requests, sent to an OpenTelemetry collector (docs/tracing.md); off without an endpoint.',
      {
        endpoint: Type.Optional(
          text(
            'URL at which the collector accepts traces by OTLP/HTTP, such as `http://collector:4318/v1/traces`. Left out: requests are not traced.',
            { format: 'http-url', env: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT' },
          ),
        ),
        sample_ratio: fraction(
          'Fraction of requests to trace among those that arrive without a trace. A request with a trace follows its `sampled` flag.',
          { default: 1 },
        ),
        service_name: text('Name of this service in traces.', {
          default: 'tenancy-gateway',
          env: 'OTEL_SERVICE_NAME',
        }),
      },
    ),
    drain_ms: integer(
      'Longest time from SIGTERM to exit; requests still in flight then are cut off. Keep it below the grace period of the sender of the signal (Kubernetes: 30 seconds).',
      { minimum: 0, maximum: 3_600_000, default: 25_000 },
    ),
    drain_delay_ms: integer(
      'Part of `drain_ms`: how long requests are still accepted as usual while `/readyz` already responds with 503, so that a load balancer that polls it stops sending in time. Set it longer than the balancer takes to notice, or to 0 if the balancer is told before SIGTERM. The Helm chart uses preStopSeconds instead.',
      { minimum: 0, maximum: 600_000, default: 0 },
    ),
    drain_idle_ms: integer(
      'Part of `drain_ms`, after `drain_delay_ms`: connections are still accepted and idle ones stay open for this long, while every response says `Connection: close`. Clients thus connect elsewhere before their connections are closed; a request sent into a closing connection would be lost. At most half of what `drain_delay_ms` leaves of `drain_ms`.',
      { minimum: 0, maximum: 600_000, default: 2_000 },
    ),
  },
  {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Tenancy Gateway configuration',
    description:
      'The file that CONFIG names. Every key may be left out; an empty value means the default. `env` names the variable that overrides a key.',
    additionalProperties: false,
  },
);

/** The file with its defaults filled in. A setting that was left out and has no default is `undefined`. */
export type GatewayFile = Static<typeof gatewayFile>;

/**
 * A configuration file that may still have faults. Values that the schema rejects are removed, so that the cross checks
 * can run and all faults are reported at once. In a list, rejected entries are replaced with `undefined`.
 */
export type UncheckedFile = Omit<
  GatewayFile,
  'authentication' | 'internal' | 'routes' | 'trusted_proxies' | 'listen'
> & {
  readonly authentication: {
    readonly schemes: readonly (AuthorizationScheme | undefined)[];
    readonly headers: readonly (string | undefined)[];
  };
  readonly internal: Omit<GatewayFile['internal'], 'admin_tokens'> & {
    readonly admin_tokens: Readonly<Record<string, string | Partial<OperatorEntry>>>;
  };
  readonly listen: Omit<GatewayFile['listen'], 'tls'> & {
    readonly tls?: Partial<GatewayFile['listen']['tls']>;
  };
  readonly trusted_proxies: readonly (string | undefined)[];
  readonly routes: readonly (Partial<RouteFile> | undefined)[];
};
