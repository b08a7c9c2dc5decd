import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';
import { getHeapStatistics } from 'node:v8';
import type {
  CertificateConfig,
  Config,
  LimitsConfig,
  OperatorToken,
  PortalConfig,
  RouteConfig,
} from '../config.ts';
import { headerNames, type HeaderNames } from '../domain/header-names.ts';
import type { GatewayFile } from './gateway-file.ts';
import { named } from './named.ts';
import { makePortal } from './portal/make-portal.ts';
import type { RouteFile, RouteSettings } from './route-file.ts';
import { effectiveRoutes } from './routes.ts';
import { nodeAt, withDefaults } from './schema.ts';

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
  const { internal, portal, database, coherence, tracing, server, upstream, ...settings } = named(file);
  const { listen, redis, migrate, keys, problems, reference, management, events, log } = settings;
  const { drainMs, drainDelayMs, drainIdleMs } = settings;
  const names = headerNames(file.headers.prefix, file.authentication.headers);
  return {
    ...{ listen, redis, migrate, keys, problems, reference, management, events, log },
    ...{ drainMs, drainDelayMs, drainIdleMs },
    coherence: {
      leaseMs: coherence.leaseMs,
      streamsMs: coherence.streamsOutliveLeaseMs,
      maxFacts: coherence.maxFacts,
    },
    internal: { host: internal.host, port: internal.port },
    portal: makePortal(portal, logo),
    operators,
    store:
      database.url === null
        ? { kind: 'embedded', dataDir: settings.dataDir }
        : { kind: 'postgres', ...database, url: database.url },
    workers: workersOf(file),
    headers: names,
    authentication: { schemes: file.authentication.schemes },
    trustedProxies: file.trusted_proxies.map(asNetwork),
    certificates,
    routes: effectiveRoutes(file).map((route) => makeRoute(route, names)),
    limits: {
      ...settings.limits,
      ...memoryLimits(settings.limits.maxHeapBytes),
      clientConnectionAgeMs: server.maxConnectionAgeMs,
      upstreamConnectionAgeMs: upstream.maxConnectionAgeMs,
    },
    usage: { ...settings.usage, journalDir: settings.usage.journalDir ?? join(settings.dataDir, 'usage') },
    tracing: tracing.endpoint === null ? null : { ...tracing, endpoint: tracing.endpoint },
  };
}

function memoryLimits(
  heapBytes: number | null,
): Pick<LimitsConfig, 'maxHeapBytes' | 'maxMemoryBytes' | 'heldBytes'> {
  const { heap_size_limit: mostHeapBytes } = getHeapStatistics();
  const maxHeapBytes = heapBytes ?? Math.floor(mostHeapBytes * heapShare);
  return {
    maxHeapBytes,
    maxMemoryBytes: maxHeapBytes === 0 ? 0 : Math.max(maxHeapBytes, Math.floor(memoryBytes() * memoryShare)),
    heldBytes: Math.floor(Math.min(memoryBytes(), 2 * mostHeapBytes) * heldShare),
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

/** Checks have made sure that an open route has a limit. */
function makeRoute(file: RouteFile, names: HeaderNames): RouteConfig {
  const { authentication, openPerSecond, cors, ...route } = named(file, nodeAt(['routes'])?.items);
  return {
    ...route,
    open: authentication === 'none' ? { perSecond: openPerSecond as number } : null,
    underscoreHeaders: route.underscoreHeaders.map((name) => name.toLowerCase()),
    passHeaders: route.passHeaders.map((name) => name.toLowerCase()),
    cors: cors && {
      ...cors,
      // What a page has to send: its key, the content type and the acting account.
      headers: cors.headers ?? ['Authorization', 'Content-Type', names.acting, ...names.apiKey],
      // The headers that the gateway adds to responses.
      expose: cors.expose ?? [
        'X-Request-Id',
        'Retry-After',
        'RateLimit',
        'RateLimit-Policy',
        names.resolvedTenant,
      ],
    },
  };
}

/** Returns a network in CIDR notation. A single address becomes a network of that address alone. */
function asNetwork(address: string): string {
  if (address.includes('/')) return address;
  return `${address}/${address.includes(':') ? 128 : 32}`;
}
