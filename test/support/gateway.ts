/** The gateway on a real socket, over a directory in memory, for tests of the gateway alone. */
import { randomBytes } from 'node:crypto';
import type { Server } from 'node:net';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import type { OperatorSessions } from '../../src/api/operator/operator-sessions.ts';
import { OperatorTokens } from '../../src/api/operator/operator-tokens.ts';
import type { SessionSecrets } from '../../src/api/session-secrets.ts';
import { publicServer } from '../../src/app.ts';
import type { Config, LimitsConfig, RouteConfig } from '../../src/config.ts';
import { usualKeyPrefix } from '../../src/domain/api-key.ts';
import type { AuthorizationScheme } from '../../src/domain/authorization.ts';
import { headerNames } from '../../src/domain/header-names.ts';
import { usualTypeBase } from '../../src/http/problem-body.ts';
import type { Pressure } from '../../src/limits/load-shedding.ts';
import type { HeldBytes } from '../../src/limits/held-bytes.ts';
import { TenantConcurrency } from '../../src/limits/concurrency.ts';
import type { Barrier } from '../../src/ports/barrier.ts';
import { systemClock, type Clock } from '../../src/ports/clock.ts';
import type { Directory } from '../../src/ports/directory.ts';
import type { RequestRecord } from '../../src/ports/request-record.ts';
import type { ErasureStore } from '../../src/ports/erasures.ts';
import type { EventStore } from '../../src/ports/events.ts';
import type { RateLimiter } from '../../src/ports/limits/rate-limiter.ts';
import type { LiveTails } from '../../src/ports/live-tails.ts';
import type { PortalSessionStore } from '../../src/ports/portal-sessions.ts';
import type { ReplicaList } from '../../src/ports/replica-list.ts';
import type { Imports } from '../../src/ports/imports.ts';
import type { Plans } from '../../src/ports/plans.ts';
import type { TenantStore } from '../../src/ports/tenant-store.ts';
import type { UsageStore } from '../../src/ports/usage.ts';
import { ActiveExchanges } from '../../src/proxy/active-exchanges.ts';
import type { Lookup } from '../../src/proxy/upstream/names.ts';
import type { ManualTime } from './coherence/manual-time.ts';
import { acceptedSchemes, authorizationOf } from './credential-forms.ts';
import { eventually as holds } from './eventually.ts';
import { listening } from './listening.ts';
import { MemoryDirectory, type Holder } from './memory-directory.ts';
import { lookupWith } from './names.ts';
import { OneReplicaLimiter } from './one-replica-limiter.ts';
import { countedIn, type UsageEvent } from './usage-sinks.ts';
import {
  headerList,
  rawClient,
  rawRequest,
  requestText,
  type Headers,
  type RawClient,
  type RawResponse,
} from './raw-client.ts';
import type { Scope } from './servers.ts';
import { unpaced } from './unpaced.ts';
import { upstreamClient } from './upstream-client-option.ts';
import { startUpstream, type Upstream } from './upstreams.ts';

export interface GatewayOptions {
  /** Routes by prefix; each is an upstream's URL, or more about the route. */
  readonly routes: Readonly<Record<string, string | (Partial<RouteConfig> & Pick<RouteConfig, 'upstream'>)>>;
  readonly limits?: Partial<LimitsConfig>;
  readonly prefix?: string;
  /** Schemes in which `Authorization` may carry API keys; by default the one that `call` sends, and `Bearer`. */
  readonly schemes?: readonly AuthorizationScheme[];
  /** Further headers that carry API keys. */
  readonly apiKeyHeaders?: readonly string[];
  readonly problemTypeBase?: string;
  /** What new keys begin with. */
  readonly keyPrefix?: string;
  /** Response header in which upstreams state units. */
  readonly unitsHeader?: string;
  readonly trustedProxies?: readonly string[];
  readonly clock?: Clock;
  /** Time of the whole gateway, which moves only where the test says so. */
  readonly time?: ManualTime;
  /** In place of the directory in memory. @param memory holds the facts of the parent */
  readonly directory?: (memory: MemoryDirectory) => Directory;
  readonly exchanges?: ActiveExchanges;
  /** How busy the process is said to be; asked once a second. */
  readonly pressure?: () => Pressure;
  /** Counts requests against limits; by default as one replica does by itself. */
  readonly rateLimiter?: RateLimiter;
  /** Looks up the host names of upstreams; by default as this machine does. */
  readonly lookup?: Lookup;
  /** What management reads of the store; by default nothing. */
  readonly tenants?: Partial<TenantStore>;
  /** Budget for bytes that are held for clients; by default there is none. */
  readonly held?: HeldBytes;
  /** Certificate and key of a listener that speaks TLS, both PEM. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

export interface TestGateway {
  readonly server: Server;
  readonly port: number;
  /** Bytes that have been read of all clients. */
  readonly bytesRead: () => number;
  readonly directory: MemoryDirectory;
  readonly finished: Omit<RequestRecord, 'head'>[];
  readonly usage: UsageEvent[];
  /** Uses of keys that were noted without being counted. */
  readonly touched: Pick<UsageEvent, 'accountId' | 'keyId'>[];
  /** Everything that was logged. */
  readonly log: { text: string };
  /** A parent account without sub-accounts. */
  readonly parent: Holder;
  /** Writes a request with the parent's key. */
  readonly requestOf: typeof requestText;
  /** Opens a connection, and sends bytes on it. */
  readonly dial: (bytes: string) => Promise<RawClient>;
  /** Sends a request with the parent's key, or with `key`, or with none; on a connection of its own. */
  readonly call: (
    method: string,
    target: string,
    options?: {
      readonly key?: string | null;
      readonly headers?: Headers;
      readonly body?: string;
    },
  ) => Promise<RawResponse>;
}

/** Starts the public application as `app.ts` builds it; everything ends with the test. There is no store behind it. */
export async function startGateway(t: Scope, options: GatewayOptions): Promise<TestGateway> {
  const directory = new MemoryDirectory();
  const parent = directory.addParent(['tracking:read', 'tracking:write']);
  const finished: Omit<RequestRecord, 'head'>[] = [];
  const usage: UsageEvent[] = [];
  const touched: TestGateway['touched'] = [];
  const log = { text: '' };
  const config = configFor(options, await tlsFiles(t, options.tls));
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      log.text += chunk.toString();
      done();
    },
  });
  const app = await publicServer({
    ...noStore,
    config,
    directory: options.directory?.(directory) ?? directory,
    counting: { ...countedIn(usage), touch: ({ accountId, keyId }) => touched.push({ accountId, keyId }) },
    clock: options.clock ?? options.time?.clock ?? systemClock,
    ...(options.time && { timers: options.time.timers }),
    randomBytes,
    logger: pino({ level: 'trace' }, stream),
    registry: new Registry(),
    // Not their heads, which hold whole requests.
    observe: ({ head: _head, ...exchange }) => finished.push(exchange),
    observeOperator: () => undefined,
    observePortal: () => undefined,
    tracer: null,
    unready: () => [],
    exchanges: options.exchanges ?? new ActiveExchanges(),
    pressure: options.pressure ?? (() => ({ delayMs: 0, heapBytes: 0, memoryBytes: 0 })),
    concurrency: new TenantConcurrency(config.limits),
    rateLimiter: options.rateLimiter ?? new OneReplicaLimiter(),
    lookup: options.lookup ?? lookupWith(),
    ...(options.tenants && { tenants: options.tenants as TenantStore & Imports & Plans }),
  });
  const { server, port, bytesRead } = await listening(t, app, config, options.time, options.held);

  return {
    server,
    port,
    bytesRead,
    directory,
    finished,
    usage,
    touched,
    log,
    parent,
    requestOf: (method, target, headers = [], body) =>
      requestText(
        method,
        target,
        [['Authorization', authorizationOf(parent.key)], ...headerList(headers)],
        body,
      ),
    dial: async (bytes) => (await rawClient(t, port)).send(bytes),
    call(method, target, { key = parent.key, headers = [], body = '' } = {}) {
      const authorization = key === null ? [] : [['Authorization', authorizationOf(key)] as const];
      return rawRequest(
        t,
        port,
        requestText(method, target, [...authorization, ...headerList(headers)], body),
      );
    },
  };
}

/** An upstream that says what it got, and a gateway whose only route leads there. */
export async function startProxied(
  t: Scope,
  { route, ...options }: Omit<GatewayOptions, 'routes'> & { readonly route?: Partial<RouteConfig> } = {},
): Promise<TestGateway & { readonly upstream: Upstream }> {
  const upstream = await startUpstream(t);
  const gateway = await startGateway(t, {
    routes: { '/': { ...route, upstream: upstream.url } },
    ...options,
  });
  return { ...gateway, upstream };
}

function configFor(options: GatewayOptions, tls: Config['listen']['tls']): Config {
  return {
    listen: { host: '127.0.0.1', port: 0, tls },
    internal: { host: '127.0.0.1', port: 0 },
    portal: null,
    operators: [],
    store: { kind: 'embedded', dataDir: '' },
    redis: { url: null, macKeyFile: null },
    workers: 1,
    migrate: false,
    coherence: { leaseMs: 3_000, streamsMs: 0, maxFacts: 1_000 },
    headers: headerNames(options.prefix, options.apiKeyHeaders),
    authentication: { schemes: options.schemes ?? acceptedSchemes },
    keys: { prefix: options.keyPrefix ?? usualKeyPrefix },
    problems: { typeBase: options.problemTypeBase ?? usualTypeBase },
    reference: { enabled: true, title: null },
    trustedProxies: options.trustedProxies ?? [],
    certificates: [],
    management: { requireActingHeader: false },
    routes: routesOf(options),
    limits: { ...defaultLimits, ...options.limits },
    events: { retentionDays: 400, addressRetentionDays: 90, bytesPerDay: 2 ** 28 },
    usage: {
      journalDir: '',
      journalMaxBytes: 2 ** 20,
      lostAfterMs: 86_400_000,
      keysPerAccountHour: 200,
      hourlyRetentionDays: 62,
      retentionMonths: 25,
      unitsHeader: options.unitsHeader ?? null,
      export: null,
    },
    log: { level: 'trace', sample2xx: 1 },
    tracing: null,
    drainMs: 1_000,
    drainDelayMs: 0,
    drainIdleMs: 0,
  };
}

/** The routes, and beside the first an open one, which must not change anything about the others. */
function routesOf(options: GatewayOptions): RouteConfig[] {
  const routes = Object.entries(options.routes).map(([prefix, route]): RouteConfig => {
    return { ...defaultRoute, prefix, ...(typeof route === 'string' ? { upstream: route } : route) };
  });
  const [first] = routes;
  if (first === undefined) return routes;
  return [...routes, { ...first, prefix: openBeside, open: { perSecond: 100_000 } }];
}

/** Prefix of the open route beside the routes of a test. */
export const openBeside = '/open-beside';

/** The listener reads them from files. */
async function tlsFiles(t: Scope, tls: GatewayOptions['tls']): Promise<Config['listen']['tls']> {
  if (tls === undefined) return null;
  const folder = await mkdtemp(join(tmpdir(), 'tenancy-gateway-tls-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  await writeFile(certFile, tls.cert);
  await writeFile(keyFile, tls.key);
  return { certFile, keyFile };
}

/** Management is there and decides as ever; what it would read or change is not. */
const noStore = {
  tenants: missing<TenantStore & Imports & Plans>('tenants'),
  events: missing<EventStore>('events'),
  erasures: missing<ErasureStore>('erasures'),
  usage: missing<UsageStore>('usage'),
  usageReplay: null,
  barrier: missing<Barrier>('barrier'),
  replicaList: missing<ReplicaList>('replicaList'),
  liveTails: missing<LiveTails>('liveTails'),
  operatorTokens: new OperatorTokens([]),
  operatorSessions: missing<OperatorSessions>('operatorSessions'),
  tokenGuesses: unpaced,
  portalSessions: missing<PortalSessionStore>('portalSessions'),
  sessionSecrets: missing<SessionSecrets>('sessionSecrets'),
  version: '0.0.0-test',
  factsAge: () => null,
  ownReplicaId: () => null,
};

function missing<T extends object>(what: string): T {
  return new Proxy({} as T, {
    get: () => () => Promise.reject(new Error(`a test of the gateway alone has no ${what}`)),
  });
}

/** Waits until something that other parts of the process do has happened. */
export async function eventually(condition: () => boolean, what = 'the condition'): Promise<void> {
  await holds(condition, { everyMs: 5 }).catch(() => Promise.reject(new Error(`${what} did not come about`)));
}

/** Waits until something has begun to move and moves no more: then everything between the two ends is full. */
export async function standstill(progress: () => number): Promise<void> {
  let last = 0;
  for (let still = 0; still < 10; still += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    if (progress() !== last || last === 0) still = 0;
    last = progress();
  }
}

const defaultRoute: Omit<RouteConfig, 'prefix' | 'upstream'> = {
  client: upstreamClient,
  host: 'preserve',
  passAuthorization: false,
  passUnitsHeader: false,
  open: null,
  underscoreHeaders: [],
  passHeaders: [],
  preflight: 'authenticate',
  sharedCache: 'deny',
  cors: null,
  scopes: { read: null, write: null },
  timeouts: { connectMs: 5_000, headersMs: 10_000, bodyMs: 10_000 },
  connections: 64,
  websockets: null,
  tls: { caFile: null, certFile: null, keyFile: null, serverName: null },
};

export const defaultLimits: LimitsConfig = {
  maxHeaders: 100,
  maxHeaderBytes: 16_384,
  headTimeoutMs: 10_000,
  bodyIdleMs: 10_000,
  minBodyBytesPerMinute: 6_000,
  keepAliveMs: 60_000,
  managementBodyBytes: 65_536,
  maxConnections: 1_000,
  clientConnectionAgeMs: 1e9,
  upstreamConnectionAgeMs: 1e9,
  inFlightPerTenant: 1_000,
  changesPerSecond: 0,
  readsPerSecond: 0,
  answerMs: 1_000,
  subAccountsPerParent: 10_000,
  keysPerAccount: 100,
  maxEventLoopDelayMs: 0,
  maxHeapBytes: 0,
  maxMemoryBytes: 0,
  heldBytes: Infinity,
};
