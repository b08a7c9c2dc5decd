import type { HeaderNames } from './domain/header-names.ts';

/** A configuration that has been checked as a whole. Durations are milliseconds, sizes bytes. */
export interface Config {
  readonly listen: ListenConfig;
  readonly internal: { readonly host: string; readonly port: number; readonly adminToken: string | null };
  readonly store: StoreConfig;
  readonly redisUrl: string | null;
  /** Run migrations at start. */
  readonly migrate: boolean;
  readonly coherence: CoherenceConfig;
  readonly headers: HeaderNames;
  /** CIDRs whose `X-Forwarded-*` and `X-Request-Id` count. */
  readonly trustedProxies: readonly string[];
  readonly management: { readonly requireActingHeader: boolean };
  /** Longest prefix wins. Empty only on the embedded store, where requests go to the echo upstream. */
  readonly routes: readonly RouteConfig[];
  readonly limits: LimitsConfig;
  readonly log: { readonly level: string; readonly sample2xx: number };
  /** `null`: requests are not traced. */
  readonly tracing: TracingConfig | null;
  /** Longest time from SIGTERM to exit. */
  readonly drainMs: number;
  /** Part of that: how long requests are taken as before, while `/readyz` already says no. */
  readonly drainDelayMs: number;
}

export interface ListenConfig {
  readonly host: string;
  readonly port: number;
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null;
}

export type StoreConfig =
  | { readonly kind: 'embedded'; readonly dataDir: string }
  | { readonly kind: 'postgres'; readonly url: string; readonly maxConnections: number };

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
  /** A CORS preflight without a key: `authenticate` responds with 401, `pass` forwards it without identity. */
  readonly preflight: 'authenticate' | 'pass';
  /** Scope a caller must hold, by kind of method; `null` for none. */
  readonly scopes: { readonly read: string | null; readonly write: string | null };
  readonly timeouts: { readonly connectMs: number; readonly headersMs: number; readonly bodyMs: number };
  /** Connections to the upstream at most. */
  readonly connections: number;
  readonly tls: {
    readonly caFile: string | null;
    readonly certFile: string | null;
    readonly keyFile: string | null;
    readonly serverName: string | null;
  };
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
  readonly subAccountsPerParent: number;
  readonly keysPerAccount: number;
  /** Delay of the event loop above which requests are shed; 0 turns it off. */
  readonly maxEventLoopDelayMs: number;
  /** Heap above which requests are shed; 0 turns it off. */
  readonly maxHeapBytes: number;
}
