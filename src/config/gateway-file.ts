import { Type, type Static } from 'typebox';
import {
  flag,
  integer,
  integerOrAuto,
  list,
  namedTexts,
  oneOf,
  optionalSection,
  section,
  share,
  text,
} from './keys.ts';
import { database } from './database/database-file.ts';
import { limits } from './limits-file.ts';
import { redis } from './redis/redis-file.ts';
import { usage } from './usage/usage-file.ts';
import { routeFile, routeSettings, type RouteFile } from './route-file.ts';

const port = { minimum: 0, maximum: 65_535 };

/**
 * The file that `CONFIG` names, as it is once every default is filled in: keys, meanings, ranges, defaults and variables
 * stand here and nowhere else. `npm run generate` writes from it `config/gateway.schema.json`, `config/gateway.yaml`, the
 * list in `docs/configuration.md` and what the chart accepts as `config`.
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
        'Serves HTTPS in place of HTTP. Both files are PEM, and are read at start and on SIGHUP.',
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
            'Bearer token of the operator API. Without one the operator API is off on PostgreSQL; on the embedded store one is generated and kept in `data_dir`. Prefer the variable: a file is easily shared.',
            { format: 'token', env: 'ADMIN_TOKEN' },
          ),
        ),
        admin_tokens: namedTexts(
          'Further bearer tokens of the operator API, by the names of those who have them. Events say by whose token a change was made; `admin_token` is `operator` there. They are secrets: keep the file as you keep those.',
          'operator-name',
          { format: 'token', examples: [{ alice: 'at-least-32-random-characters-please' }] },
        ),
        admin_tokens_dir: Type.Optional(
          text(
            'Folder with a file for each further operator: its name is the name of the operator, what is in it the token, as for `admin_tokens`. A Secret that Kubernetes mounts is such a folder. Read at start.',
            { env: 'ADMIN_TOKENS_DIR' },
          ),
        ),
      },
    ),
    database,
    workers: integerOrAuto(
      'Processes that share the listeners, each a replica; `auto` for one a core. More than one needs PostgreSQL. `limits.max_connections`, `limits.in_flight_per_tenant` and the `connections` and `websockets` of a route are divided among them; all else that is said of a process holds for each of them, `database.max_connections` too. In Kubernetes take more pods instead.',
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
    coherence: section('How replicas keep from deciding by what is no longer true.', {
      lease_ms: integer(
        'How long a replica may decide without hearing from the database. A change waits this long for a replica that hangs; shorter means more small commits.',
        { minimum: 200, maximum: 60_000, default: 3_000, env: 'COHERENCE_LEASE_MS' },
      ),
      max_facts: integer('Keys and accounts held in memory at most; the least recently used go first.', {
        minimum: 100,
        maximum: 50_000_000,
        default: 200_000,
      }),
    }),
    headers: section('Names of the headers the gateway reads and sets.', {
      prefix: text(
        'What they start with: `X-Service-` gives `X-Service-Acting-Tenant` and `X-Service-Resolved-Tenant`. Client headers that start with it are dropped.',
        { format: 'header-prefix', default: 'X-Service-' },
      ),
    }),
    authentication: section('How requests carry their API key, beside `Authorization: Bearer`.', {
      headers: list(
        'Further headers whose whole value is an API key, on proxied requests and on management. Upstreams never get them, in any spelling. A request with two credentials gets 401.',
        Type.String({ format: 'header-name' }),
        { examples: [['X-API-Key']] },
      ),
    }),
    keys: section('API keys that the gateway makes.', {
      prefix: text(
        'What new keys begin with, before `_`; those made before go on working. Not what keys of yours begin with that you import: with this prefix a key needs the checksum of the gateway.',
        { format: 'key-prefix', default: 'tgw' },
      ),
    }),
    problems: section('Error bodies (RFC 9457).', {
      type_base: text(
        'What the `type` of a problem begins with; its code follows. An address of yours, where each code is explained.',
        { format: 'problem-base', default: 'urn:tenancy-gateway:problem:' },
      ),
    }),
    trusted_proxies: list(
      'Addresses and networks (CIDR) of proxies in front whose `X-Forwarded-*` and `X-Request-Id` count.',
      Type.String({ format: 'cidr' }),
      { examples: [['10.0.0.0/8', '::1']] },
    ),
    management: section('The management API under `/v1/sub-accounts`.', {
      require_acting_header: flag(
        'Ask for the acting header on management writes too, once the caller has active sub-accounts.',
        { default: false },
      ),
    }),
    upstream_url: Type.Optional(
      text(
        'The upstream of every path that no route takes: `http://host:port`, `https://host:port` or `unix:/path/to.sock`. Where there is one upstream, it is the whole configuration. As a variable it also overrides the upstream of a route `/`.',
        { format: 'upstream-url', env: 'UPSTREAM_URL' },
      ),
    ),
    route_defaults: section('Settings of every route that does not set its own.', routeSettings),
    routes: list(
      'Upstreams by path; the longest prefix wins, whole segments count, paths are not rewritten. A path that no route takes gets 404.',
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
          ],
        ],
      },
    ),
    limits,
    events: section(
      'What was changed through management and the operator API, and by whom (docs/events.md).',
      {
        retention_days: integer('For how many days events are kept.', {
          minimum: 1,
          maximum: 36_500,
          default: 400,
        }),
      },
    ),
    usage,
    log: section('Logs go to standard output, one JSON object a line.', {
      level: oneOf(
        'Least severe level that is written. Requests are logged at `info`.',
        ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
        { default: 'info', env: 'LOG_LEVEL' },
      ),
      sample_2xx: share(
        'Share of proxied requests with a 2xx response that are logged. All others always are, and so are management and operator calls.',
        { default: 1, env: 'LOG_SAMPLE_2XX' },
      ),
    }),
    tracing: section(
      'Traces of requests, sent to an OpenTelemetry collector (docs/tracing.md); off without an endpoint.',
      {
        endpoint: Type.Optional(
          text(
            'Where the collector takes traces by OTLP/HTTP, such as `http://collector:4318/v1/traces`. Left out: requests are not traced.',
            { format: 'http-url', env: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT' },
          ),
        ),
        sample_ratio: share(
          'Share of requests that are traced, of those that come without a trace. For the others what their trace says holds.',
          { default: 1 },
        ),
        service_name: text('Name of this service in traces.', {
          default: 'tenancy-gateway',
          env: 'OTEL_SERVICE_NAME',
        }),
      },
    ),
    drain_ms: integer(
      'Longest time from SIGTERM to exit: what is in flight after it is cut off. Keep it below the grace period of what sends the signal (Kubernetes: 30 seconds).',
      { minimum: 0, maximum: 3_600_000, default: 25_000 },
    ),
    drain_delay_ms: integer(
      'Part of `drain_ms`: how long requests are taken as before while `/readyz` already responds with 503, so that a load balancer that polls it stops sending in time. Longer than the balancer takes to notice; 0 where it has been told before SIGTERM. The Helm chart has preStopSeconds for this.',
      { minimum: 0, maximum: 600_000, default: 0 },
    ),
    drain_idle_ms: integer(
      'Part of `drain_ms`, after `drain_delay_ms`: for this long connections are still taken and idle ones stay open, while every response says `Connection: close`. So clients are told to connect elsewhere before their connections are closed: a request sent into a connection that is just being closed is lost. Shortened to half of what `drain_delay_ms` leaves of `drain_ms`.',
      { minimum: 0, maximum: 600_000, default: 2_000 },
    ),
  },
  {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Tenancy Gateway configuration',
    description:
      'The file named by CONFIG. Every key may be left out; an empty value means the default. `env` names the variable that overrides a key.',
    additionalProperties: false,
  },
);

/** The file with its defaults filled in. `undefined`: left out, and there is no default. */
export type GatewayFile = Static<typeof gatewayFile>;

/**
 * The file while it may still have faults: rejected values are taken out, so that the checks across keys can go on
 * and every fault is found in one go. A list keeps a gap where an entry was no mapping at all.
 */
export type UncheckedFile = Omit<GatewayFile, 'authentication' | 'routes' | 'trusted_proxies' | 'listen'> & {
  readonly authentication: { readonly headers: readonly (string | undefined)[] };
  readonly listen: Omit<GatewayFile['listen'], 'tls'> & {
    readonly tls?: Partial<GatewayFile['listen']['tls']>;
  };
  readonly trusted_proxies: readonly (string | undefined)[];
  readonly routes: readonly (Partial<RouteFile> | undefined)[];
};
