import type { HeaderNames } from './domain/header-names.ts';

/** A configuration that has been checked as a whole. Durations are milliseconds, sizes bytes. */
export interface Config {
  readonly listen: ListenConfig;
  readonly internal: InternalConfig;
  readonly store: StoreConfig;
  readonly redisUrl: string | null;
  /** File with the keys that sign and verify values in Redis; `null`: values are not signed. */
  readonly redisMacKeyFile: string | null;
  /** Number of processes that accept connections on the listeners. */
  readonly workers: number;
  /** Run migrations at start. */
  readonly migrate: boolean;
  readonly coherence: CoherenceConfig;
  readonly headers: HeaderNames;
  /** Prefix of new API keys, without the `_` after it. */
  readonly keys: { readonly prefix: string };
  /** Start of the `type` of a problem. The code follows it. */
  readonly problems: { readonly typeBase: string };
  /** The API reference for parents. If `title` is `null`, it has the gateway's own title. */
  readonly reference: { readonly enabled: boolean; readonly title: string | null };
  /** CIDRs of the proxies whose `X-Forwarded-*` and `X-Request-Id` are trusted. */
  readonly trustedProxies: readonly string[];
  /** Certificates in the files that the configuration names, as of its reading. */
  readonly certificates: readonly CertificateConfig[];
  readonly management: { readonly requireActingHeader: boolean };
  /** The longest matching prefix wins. Empty only on the embedded store: requests then go to the echo upstream. */
  readonly routes: readonly RouteConfig[];
  readonly limits: LimitsConfig;
  /** Days for which events are kept. */
  readonly events: { readonly retentionDays: number };
  readonly usage: UsageConfig;
  readonly log: { readonly level: string; readonly sample2xx: number };
  /** `null`: requests are not traced. */
  readonly tracing: TracingConfig | null;
  /** Longest time from SIGTERM to the exit. */
  readonly drainMs: number;
  /** Part of `drainMs` in which requests are accepted as usual while `/readyz` responds with 503. */
  readonly drainDelayMs: number;
  /** Part of `drainMs` in which responses say `Connection: close` before idle connections are closed. */
  readonly drainIdleMs: number;
}

/** Validity of a certificate; wall-clock times, as the certificate states them. */
export interface CertificateConfig {
  readonly use: 'listener' | 'upstream_ca' | 'upstream_client' | 'redis_ca' | 'redis_client';
  /** Prefix of the route that uses it towards its upstream; `null`: not for an upstream. */
  readonly route: string | null;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

export interface ListenConfig {
  readonly host: string;
  readonly port: number;
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null;
}

export interface InternalConfig {
  readonly host: string;
  readonly port: number;
  readonly adminToken: string | null;
  /** Further tokens of operators, by name. */
  readonly adminTokens: Readonly<Record<string, string>>;
}

export type StoreConfig = { readonly kind: 'embedded'; readonly dataDir: string } | PostgresConfig;

export interface PostgresConfig {
  readonly kind: 'postgres';
  readonly url: string;
  /** Address that bypasses the pooler behind `url`; `null` if `url` leads to no pooler. */
  readonly directUrl: string | null;
  readonly maxConnections: number;
}

export interface CoherenceConfig {
  /** The T of `docs/coherence.md`. */
  readonly leaseMs: number;
  /** Most facts held in memory. */
  readonly maxFacts: number;
}

export interface RouteConfig {
  /** Starts with `/`; matches whole segments. */
  readonly prefix: string;
  /** `http:`, `https:` or `unix:` address. Paths are not rewritten. */
  readonly upstream: string;
  /** Client that forwards plain requests: our own for HTTP/1.1, or @fastify/http-proxy with undici. */
  readonly client: 'native' | 'undici';
  /** `Host` that the upstream receives: the client's or its own. */
  readonly host: 'preserve' | 'upstream';
  readonly passAuthorization: boolean;
  /** Names of client headers with `_` that are passed on, in lower case; all others are dropped. */
  readonly underscoreHeaders: readonly string[];
  /** A CORS preflight without a key: `authenticate` responds with 401, `pass` forwards it without identity. */
  readonly preflight: 'authenticate' | 'pass';
  /** CORS headers that the gateway sets; `null`: those of the upstream pass unchanged. */
  readonly cors: CorsConfig | null;
  /** Scope that a caller must hold, by kind of method; `null`: none is needed. */
  readonly scopes: { readonly read: string | null; readonly write: string | null };
  readonly timeouts: { readonly connectMs: number; readonly headersMs: number; readonly bodyMs: number };
  /** Most connections to the upstream, not counting those of WebSockets. */
  readonly connections: number;
  /** Most open WebSockets; `null`: as many as client connections are allowed. */
  readonly webSockets: number | null;
  readonly tls: {
    readonly caFile: string | null;
    readonly certFile: string | null;
    readonly keyFile: string | null;
    readonly serverName: string | null;
  };
}

export interface CorsConfig {
  /** Allowed origins as browsers send them; `*` for all. */
  readonly origins: readonly string[];
  /** Request headers that a page may set. */
  readonly headers: readonly string[];
  /** Response headers that a page may read. */
  readonly expose: readonly string[];
  readonly credentials: boolean;
  /** Seconds for which a browser may remember the response to a preflight. */
  readonly maxAgeS: number;
}

export interface UsageConfig {
  /** Folder of the journals. */
  readonly journalDir: string;
  /** Most disk space for the journal of one process. */
  readonly journalMaxBytes: number;
  /** Time for which a silent replica holds back `complete_through` of reports. */
  readonly lostAfterMs: number;
  /** Days for which hourly usage is kept. */
  readonly hourlyRetentionDays: number;
  /** Months for which daily usage is kept, not counting the current one. */
  readonly retentionMonths: number;
  /** `null`: usage is not exported. */
  readonly export: UsageExportConfig | null;
}

export interface UsageExportConfig {
  readonly url: string;
  /** File with the value of the header `Authorization`. */
  readonly authorizationFile: string | null;
  readonly format: 'batch' | 'single';
  /** Most events in a request. */
  readonly batchSize: number;
  readonly timeoutMs: number;
  /** Id by which the receiver knows an account. */
  readonly subject: 'id' | 'external_id';
  /** Delay from the end of an hour to its export, at least. */
  readonly delayMs: number;
  readonly caFile: string | null;
}

export interface TracingConfig {
  /** URL at which an OTLP/HTTP collector accepts traces. */
  readonly endpoint: string;
  /** Fraction of requests to trace among those that arrive without a trace, 0 to 1. */
  readonly sampleRatio: number;
  readonly serviceName: string;
}

export interface LimitsConfig {
  readonly maxHeaders: number;
  readonly maxHeaderBytes: number;
  readonly headTimeoutMs: number;
  /** Longest pause of a client in the middle of a body. */
  readonly bodyIdleMs: number;
  /** Slowest transfer of a body by a client, bytes per minute; 0 turns the limit off. */
  readonly minBodyBytesPerMinute: number;
  readonly keepAliveMs: number;
  readonly managementBodyBytes: number;
  readonly maxConnections: number;
  readonly inFlightPerTenant: number;
  /** Most changes of one parent that every replica must confirm, a second; 0 turns the limit off. */
  readonly changesPerSecond: number;
  /** Most management reads of one parent, a second; 0 turns the limit off. */
  readonly readsPerSecond: number;
  readonly subAccountsPerParent: number;
  readonly keysPerAccount: number;
  /** Event-loop delay above which requests are shed; 0 turns shedding by delay off. */
  readonly maxEventLoopDelayMs: number;
  /** Heap size above which requests are shed; 0 turns shedding by heap off. */
  readonly maxHeapBytes: number;
  /** Size of heap and buffers together above which requests are shed; 0 turns this off. */
  readonly maxMemoryBytes: number;
}
