import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';
import { getHeapStatistics } from 'node:v8';
import type {
  CertificateConfig,
  Config,
  CorsConfig,
  OperatorToken,
  PortalConfig,
  RouteConfig,
} from '../config.ts';
import { headerNames, type HeaderNames } from '../domain/header-names.ts';
import type { GatewayFile } from './gateway-file.ts';
import { makePortal } from './portal/make-portal.ts';
import type { RouteFile, RouteSettings } from './route-file.ts';
import { effectiveRoutes } from './routes.ts';
import { nodeAt, withDefaults } from './schema.ts';
import { makeUsageExport } from './usage/make-export.ts';

const heapShare = 0.85;
/**
 * Fraction of the memory that the heap and buffers may use. The rest is for code, stacks, and fragmented or uncollected
 * heap.
 */
const memoryShare = 0.7;
/** Fraction of the memory that is the budget for bytes held for clients. It is exceeded by a quarter now and then. */
const heldShare = 0.15;

/**
 * Makes the typed configuration from a file without faults.
 *
 * @param certificates the certificates in the files named by `file`
 * @param operators the tokens of the operator API, from `file` and from the files that it names
 * @param logo the picture in the file that `portal.logo_file` names
 */
export function makeConfig(
  file: GatewayFile,
  certificates: readonly CertificateConfig[],
  operators: readonly OperatorToken[],
  logo: PortalConfig['logo'],
): Config {
  const { listen, internal, tracing } = file;
  const names = headerNames(file.headers.prefix, file.authentication.headers);
  return {
    listen: {
      host: listen.host,
      port: listen.port,
      tls: listen.tls === undefined ? null : { certFile: listen.tls.cert_file, keyFile: listen.tls.key_file },
    },
    internal: {
      host: internal.host,
      port: internal.port,
    },
    portal: makePortal(file.portal, logo),
    operators,
    store: makeStore(file),
    redisUrl: file.redis.url ?? null,
    redisMacKeyFile: file.redis.mac_key_file ?? null,
    workers: workersOf(file),
    migrate: file.migrate,
    coherence: {
      leaseMs: file.coherence.lease_ms,
      streamsMs: 1_000 * file.coherence.streams_outlive_lease_s,
      maxFacts: file.coherence.max_facts,
    },
    headers: names,
    authentication: { schemes: file.authentication.schemes },
    keys: { prefix: file.keys.prefix },
    problems: { typeBase: file.problems.type_base },
    reference: { enabled: file.reference.enabled, title: file.reference.title ?? null },
    trustedProxies: file.trusted_proxies.map(asNetwork),
    certificates,
    management: { requireActingHeader: file.management.require_acting_header },
    routes: effectiveRoutes(file).map((route) => makeRoute(route, names)),
    limits: makeLimits(file),
    events: {
      retentionDays: file.events.retention_days,
      addressRetentionDays: file.events.address_retention_days,
      bytesPerDay: file.events.bytes_per_day,
    },
    usage: makeUsage(file),
    log: { level: file.log.level, sample2xx: file.log.sample_2xx },
    tracing:
      tracing.endpoint === undefined
        ? null
        : {
            endpoint: tracing.endpoint,
            sampleRatio: tracing.sample_ratio,
            serviceName: tracing.service_name,
          },
    drainMs: file.drain_ms,
    drainDelayMs: file.drain_delay_ms,
    drainIdleMs: file.drain_idle_ms,
  };
}

function makeStore({ database, data_dir }: GatewayFile): Config['store'] {
  return database.url === undefined
    ? { kind: 'embedded', dataDir: data_dir }
    : {
        kind: 'postgres',
        url: database.url,
        directUrl: database.direct_url ?? null,
        maxConnections: database.max_connections,
      };
}

function makeLimits({ limits, server, upstream }: GatewayFile): Config['limits'] {
  const maxHeapBytes = limits.max_heap_bytes ?? Math.floor(getHeapStatistics().heap_size_limit * heapShare);
  return {
    maxHeaders: limits.max_headers,
    maxHeaderBytes: limits.max_header_bytes,
    headTimeoutMs: limits.head_timeout_ms,
    bodyIdleMs: limits.body_idle_ms,
    minBodyBytesPerMinute: limits.min_body_bytes_per_minute,
    keepAliveMs: limits.keep_alive_ms,
    managementBodyBytes: limits.management_body_bytes,
    maxConnections: limits.max_connections,
    clientConnectionAgeMs: server.max_connection_age_s * 1000,
    upstreamConnectionAgeMs: upstream.max_connection_age_s * 1000,
    inFlightPerTenant: limits.in_flight_per_tenant,
    changesPerSecond: limits.changes_per_second,
    readsPerSecond: limits.reads_per_second,
    answerMs: limits.answer_ms,
    subAccountsPerParent: limits.sub_accounts_per_parent,
    keysPerAccount: limits.keys_per_account,
    maxEventLoopDelayMs: limits.max_event_loop_delay_ms,
    maxHeapBytes,
    maxMemoryBytes: maxHeapBytes === 0 ? 0 : Math.max(maxHeapBytes, Math.floor(memoryBytes() * memoryShare)),
    heldBytes: Math.floor(Math.min(memoryBytes(), 2 * getHeapStatistics().heap_size_limit) * heldShare),
  };
}

function makeUsage(file: GatewayFile): Config['usage'] {
  return {
    journalDir: file.usage.journal_dir ?? join(file.data_dir, 'usage'),
    journalMaxBytes: file.usage.journal_max_bytes,
    lostAfterMs: file.usage.lost_after_s * 1000,
    hourlyRetentionDays: file.usage.hourly_retention_days,
    retentionMonths: file.usage.retention_months,
    keysPerAccountHour: file.usage.keys_per_account_hour,
    unitsHeader: file.usage.units_header ?? null,
    export: makeUsageExport(file.usage.export),
  };
}

/** Returns the container's memory in bytes, or the machine's if nothing limits the process. */
function memoryBytes(): number {
  // If nothing limits the process, `constrainedMemory` returns 0 or a value larger than any memory.
  return Math.min(process.constrainedMemory() || Infinity, totalmem());
}

/** Returns the number of processes to run. `auto` means the number of cores. */
export function workersOf({ workers }: Pick<GatewayFile, 'workers'>): number {
  return workers === 'auto' ? availableParallelism() : workers;
}

/** Makes a route with every setting at its default. */
export function defaultRoute(prefix: string, upstream: string): RouteConfig {
  const settings = withDefaults({}, nodeAt(['route_defaults'])) as RouteSettings;
  return makeRoute({ ...settings, authentication: 'required', prefix, upstream }, headerNames());
}

function makeRoute(route: RouteFile, names: HeaderNames): RouteConfig {
  const { scopes, timeouts, tls } = route;
  return {
    prefix: route.prefix,
    upstream: route.upstream,
    client: route.client,
    host: route.host,
    passAuthorization: route.pass_authorization,
    passUnitsHeader: route.pass_units_header,
    open: makeOpen(route),
    underscoreHeaders: route.underscore_headers.map((name) => name.toLowerCase()),
    passHeaders: route.pass_headers.map((name) => name.toLowerCase()),
    preflight: route.preflight,
    sharedCache: route.shared_cache,
    cors: makeCors(route.cors, names),
    scopes: { read: scopes.read ?? null, write: scopes.write ?? null },
    timeouts: {
      connectMs: timeouts.connect_ms,
      headersMs: timeouts.headers_ms,
      bodyMs: timeouts.body_ms,
    },
    connections: route.connections,
    webSockets: route.websockets ?? null,
    tls: {
      caFile: tls.ca_file ?? null,
      certFile: tls.cert_file ?? null,
      keyFile: tls.key_file ?? null,
      serverName: tls.server_name ?? null,
    },
  };
}

/** Checks have made sure that an open route has a limit. */
function makeOpen({ authentication, open_per_second: perSecond }: RouteFile): RouteConfig['open'] {
  return authentication === 'none' ? { perSecond: perSecond as number } : null;
}

/**
 * Makes a route's CORS settings. By default, `headers` names what a page has to send: its key, the content type and the
 * acting account. By default, `expose` names the headers that the gateway adds to responses.
 */
function makeCors(cors: RouteFile['cors'], names: HeaderNames): CorsConfig | null {
  if (cors === undefined) return null;
  return {
    origins: cors.origins,
    headers: cors.headers ?? ['Authorization', 'Content-Type', names.acting, ...names.apiKey],
    expose: cors.expose ?? [
      'X-Request-Id',
      'Retry-After',
      'RateLimit',
      'RateLimit-Policy',
      names.resolvedTenant,
    ],
    credentials: cors.credentials,
    maxAgeS: cors.max_age_s,
  };
}

/** Returns a network in CIDR notation. A single address becomes a network of that address alone. */
function asNetwork(address: string): string {
  if (address.includes('/')) return address;
  return `${address}/${address.includes(':') ? 128 : 32}`;
}
