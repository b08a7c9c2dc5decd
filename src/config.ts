import type { HeaderNames } from './domain/header-names.ts';

/** A configuration that has been checked as a whole. Durations are milliseconds, sizes bytes. */
export interface Config {
  readonly listen: ListenConfig;
  readonly internal: InternalConfig;
  readonly store: StoreConfig;
  readonly redisUrl: string | null;
  /** Holds the keys that values in Redis are authenticated by; `null`: they are not. */
  readonly redisMacKeyFile: string | null;
  /** Processes that share the listeners; with 1 there is no other process. */
  readonly workers: number;
  /** Run migrations at start. */
  readonly migrate: boolean;
  readonly coherence: CoherenceConfig;
  readonly headers: HeaderNames;
  /** What new API keys begin with, before `_`. */
  readonly keys: { readonly prefix: string };
  /** What the `type` of a problem begins with; its code follows. */
  readonly problems: { readonly typeBase: string };
  /** CIDRs whose `X-Forwarded-*` and `X-Request-Id` count. */
  readonly trustedProxies: readonly string[];
  /** Of the files that are named in it, as they were when it was read. */
  readonly certificates: readonly CertificateConfig[];
  readonly management: { readonly requireActingHeader: boolean };
  /** Longest prefix wins. Empty only on the embedded store, where requests go to the echo upstream. */
  readonly routes: readonly RouteConfig[];
  readonly limits: LimitsConfig;
  /** For how many days events are kept. */
  readonly events: { readonly retentionDays: number };
  readonly usage: UsageConfig;
  readonly log: { readonly level: string; readonly sample2xx: number };
  /** `null`: requests are not traced. */
  readonly tracing: TracingConfig | null;
  /** Longest time from SIGTERM to exit. */
  readonly drainMs: number;
  /** Part of that: how long requests are taken as before, while `/readyz` already says no. */
  readonly drainDelayMs: number;
  /** Part of it, too: how long clients are told to leave before idle connections are closed. */
  readonly drainIdleMs: number;
}

/** When a certificate is valid. Wall-clock times, by the certificate. */
export interface CertificateConfig {
  readonly use: 'listener' | 'upstream_ca' | 'upstream_client' | 'redis_ca' | 'redis_client';
  /** Prefix of the route whose upstream it is for. */
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
  /** Past the pooler that `url` leads to; `null` where there is none. */
  readonly directUrl: string | null;
  readonly maxConnections: number;
}

export interface CoherenceConfig {
  /** The T of `docs/coherence.md`. */
  readonly leaseMs: number;
  /** Facts held in memory at most. */
  readonly maxFacts: number;
}

export interface RouteConfig {
  /** Starts with `/`; matches whole segments. */
  readonly prefix: string;
  /** `http:`, `https:` or `unix:` address. Paths are not rewritten. */
  readonly upstream: string;
  /** What forwards plain requests: our own HTTP/1.1 client, or @fastify/http-proxy with undici. */
  readonly client: 'native' | 'undici';
  /** What the upstream gets as `Host`. */
  readonly host: 'preserve' | 'upstream';
  readonly passAuthorization: boolean;
  /** Names of client headers with `_` that are passed on, in lower case; all others are dropped. */
  readonly underscoreHeaders: readonly string[];
  /** A CORS preflight without a key: `authenticate` responds with 401, `pass` forwards it without identity. */
  readonly preflight: 'authenticate' | 'pass';
  /** What the gateway says to browsers about pages of other origins; `null`: nothing, the upstream's own say passes. */
  readonly cors: CorsConfig | null;
  /** Scope a caller must hold, by kind of method; `null` for none. */
  readonly scopes: { readonly read: string | null; readonly write: string | null };
  readonly timeouts: { readonly connectMs: number; readonly headersMs: number; readonly bodyMs: number };
  /** Connections to the upstream at most, those of WebSockets aside. */
  readonly connections: number;
  /** WebSockets at most; `null` for as many as there may be client connections. */
  readonly webSockets: number | null;
  readonly tls: {
    readonly caFile: string | null;
    readonly certFile: string | null;
    readonly keyFile: string | null;
    readonly serverName: string | null;
  };
}

export interface CorsConfig {
  /** As browsers send them; `*` for all. */
  readonly origins: readonly string[];
  /** Headers that a page may send. */
  readonly headers: readonly string[];
  /** Headers of responses that a page may read. */
  readonly expose: readonly string[];
  readonly credentials: boolean;
  /** Seconds for which a browser may remember the response to a preflight. */
  readonly maxAgeS: number;
}

export interface UsageConfig {
  /** Folder of the journals. */
  readonly journalDir: string;
  /** What the journal of this process may take. */
  readonly journalMaxBytes: number;
  /** For how long a silent replica holds reports back. */
  readonly lostAfterMs: number;
  /** For how many days hours are kept. */
  readonly hourlyRetentionDays: number;
  /** For how many months days are kept, beside the running one. */
  readonly retentionMonths: number;
  /** `null`: usage is not exported. */
  readonly export: UsageExportConfig | null;
}

export interface UsageExportConfig {
  readonly url: string;
  /** Holds the value of the header `Authorization`. */
  readonly authorizationFile: string | null;
  readonly format: 'batch' | 'single';
  /** Events in a request at most. */
  readonly batchSize: number;
  readonly timeoutMs: number;
  /** What the receiver knows an account by. */
  readonly subject: 'id' | 'external_id';
  /** How long after its end an hour is exported, at the earliest. */
  readonly delayMs: number;
  readonly caFile: string | null;
}

export interface TracingConfig {
  /** Where an OTLP/HTTP collector takes traces. */
  readonly endpoint: string;
  /** Share of requests that are traced, of those that come without a trace of their own; 0 to 1. */
  readonly sampleRatio: number;
  readonly serviceName: string;
}

export interface LimitsConfig {
  readonly maxHeaders: number;
  readonly maxHeaderBytes: number;
  readonly headTimeoutMs: number;
  /** Longest silence of a client in the middle of a body. */
  readonly bodyIdleMs: number;
  readonly keepAliveMs: number;
  readonly managementBodyBytes: number;
  readonly maxConnections: number;
  readonly inFlightPerTenant: number;
  /** Changes of one parent that every replica must hear of; 0 turns the limit off. */
  readonly changesPerSecond: number;
  readonly subAccountsPerParent: number;
  readonly keysPerAccount: number;
  /** Delay of the event loop above which requests are shed; 0 turns it off. */
  readonly maxEventLoopDelayMs: number;
  /** Heap above which requests are shed; 0 turns it off. */
  readonly maxHeapBytes: number;
}
