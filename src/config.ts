import type { AuthorizationScheme } from './domain/authorization.ts';
import type { HeaderNames } from './domain/header-names.ts';
import type { OperatorRole } from './domain/operator-role.ts';

/** A configuration that has been checked as a whole. Durations are milliseconds, sizes bytes. */
export interface Config {
  readonly listen: ListenConfig;
  readonly internal: InternalConfig;
  /** The portal; `null` if there is none. */
  readonly portal: PortalConfig | null;
  /** Tokens of the operator API, which is off if there is none. */
  readonly operators: readonly OperatorToken[];
  readonly store: StoreConfig;
  readonly redisUrl: string | null;
  /** File with the keys that sign and verify values in Redis; `null` if values are not signed. */
  readonly redisMacKeyFile: string | null;
  /** Number of processes that accept connections on the listeners. */
  readonly workers: number;
  /** Whether to run migrations at start. */
  readonly migrate: boolean;
  readonly coherence: CoherenceConfig;
  readonly headers: HeaderNames;
  readonly authentication: {
    /** Schemes in which `Authorization` may carry an API key on the public listener; includes `Bearer`. */
    readonly schemes: readonly AuthorizationScheme[];
  };
  /** Prefix of new API keys, without the `_` after it. */
  readonly keys: { readonly prefix: string };
  /** Start of a problem's `type`, to which the problem's code is appended. */
  readonly problems: { readonly typeBase: string };
  /** The API reference for parents. If `title` is `null`, the gateway's default title is used. */
  readonly reference: { readonly enabled: boolean; readonly title: string | null };
  /** CIDRs of the proxies whose `X-Forwarded-*` and `X-Request-Id` are trusted. */
  readonly trustedProxies: readonly string[];
  /**
   * Validity of the certificates in the files that the configuration names. These files are read together with the
   * configuration.
   */
  readonly certificates: readonly CertificateConfig[];
  readonly management: { readonly requireActingHeader: boolean };
  /**
   * Routes; the longest matching prefix wins. The list may be empty only if the store is embedded: all requests then go
   * to the built-in echo upstream.
   */
  readonly routes: readonly RouteConfig[];
  readonly limits: LimitsConfig;
  /** Days for which events and ended keys are kept, and bytes of events of a parent a day. */
  readonly events: {
    readonly retentionDays: number;
    readonly addressRetentionDays: number;
    readonly bytesPerDay: number;
  };
  readonly usage: UsageConfig;
  readonly log: { readonly level: string; readonly sample2xx: number };
  /** `null` if requests are not traced. */
  readonly tracing: TracingConfig | null;
  /** Maximum time from SIGTERM to exit. */
  readonly drainMs: number;
  /** Part of `drainMs` during which requests are accepted as usual while `/readyz` responds with 503. */
  readonly drainDelayMs: number;
  /**
   * Part of `drainMs` that follows `drainDelayMs`. Every response sent in this time says `Connection: close`. After
   * this time, idle connections are closed.
   */
  readonly drainIdleMs: number;
}

/** Validity of a certificate. Its times are wall-clock milliseconds since 1970. */
export interface CertificateConfig {
  readonly use: 'listener' | 'upstream_ca' | 'upstream_client' | 'redis_ca' | 'redis_client';
  /** Prefix of the route that uses the certificate for its upstream; `null` if no route uses it. */
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
}

/** Page for the people of parents, on a listener of its own. */
export interface PortalConfig {
  readonly host: string;
  readonly port: number;
  /** Address of the page as browsers see it. Ends with a slash. */
  readonly url: string;
  /** Name on the page. */
  readonly name: string;
  /** Picture beside the name. Text, because workers get the configuration as JSON. */
  readonly logo: { readonly type: string; readonly base64: string } | null;
  /** Colour of buttons and links, such as `#1d5dc9`; `null` for the usual one. */
  readonly accent: string | null;
  /** Links at the end of the page. */
  readonly links: readonly { readonly name: string; readonly url: string }[];
  /** Origins of pages that may have the portal in a frame. */
  readonly frameAncestors: readonly string[];
  /** Beginnings of the addresses that a session may return to. */
  readonly returnUrls: readonly string[];
  readonly sessionMs: number;
}

/** A token of the operator API. */
export interface OperatorToken {
  /** Name of the operator, unique. */
  readonly operator: string;
  readonly token: string;
  readonly role: OperatorRole;
}

export type StoreConfig = { readonly kind: 'embedded'; readonly dataDir: string } | PostgresConfig;

export interface PostgresConfig {
  readonly kind: 'postgres';
  readonly url: string;
  /** Address that reaches the same database without the pooler; `null` if `url` does not go through a pooler. */
  readonly directUrl: string | null;
  readonly maxConnections: number;
}

export interface CoherenceConfig {
  /** Duration of a lease, called T in `docs/coherence.md`. */
  readonly leaseMs: number;
  /** How many milliseconds streams may outlive the lease, called S in `docs/coherence.md`. */
  readonly streamsMs: number;
  /** Maximum number of facts held in memory. */
  readonly maxFacts: number;
}

export interface RouteConfig {
  /** Path prefix, which starts with `/` and matches whole segments. */
  readonly prefix: string;
  /** Address that begins with `http:`, `https:` or `unix:`. Paths are not rewritten. */
  readonly upstream: string;
  /** HTTP client that forwards plain requests: the gateway's own (`native`), or @fastify/http-proxy (`undici`). */
  readonly client: 'native' | 'undici';
  /** `Host` that the upstream receives: the client's (`preserve`) or the upstream's own. */
  readonly host: 'preserve' | 'upstream';
  readonly passAuthorization: boolean;
  /** Whether clients get the header `usage.units_header` of responses. */
  readonly passUnitsHeader: boolean;
  /** Set if the route serves requests without a key (`authentication: none`); `null` if it authenticates each one. */
  readonly open: { readonly perSecond: number } | null;
  /** Lower-case names of client headers with `_` that are passed on. All other headers with `_` are dropped. */
  readonly underscoreHeaders: readonly string[];
  /** Lower-case names of other gateways' identity headers that clients may send. All others are dropped. */
  readonly passHeaders: readonly string[];
  /**
   * What to do with a CORS preflight without a key: `authenticate` responds with 401, `pass` forwards it without an
   * identity.
   */
  readonly preflight: 'authenticate' | 'pass';
  /** Whether shared caches may keep responses, if the upstream allows it (`allow`). Has no effect on an open route. */
  readonly sharedCache: 'deny' | 'allow';
  /** CORS headers that the gateway sets; `null` to pass on the upstream's headers unchanged. */
  readonly cors: CorsConfig | null;
  /** Scopes that a caller must hold: `read` for reads, `write` for writes. Each is `null` if no scope is needed. */
  readonly scopes: { readonly read: string | null; readonly write: string | null };
  readonly timeouts: { readonly connectMs: number; readonly headersMs: number; readonly bodyMs: number };
  /** Maximum number of connections to the upstream for plain requests. WebSockets have connections of their own. */
  readonly connections: number;
  /** Maximum number of open WebSockets; `null` to use `limits.maxConnections`. */
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
  /** Seconds for which a browser may cache the response to a preflight. */
  readonly maxAgeS: number;
}

export interface UsageConfig {
  /** Folder of the usage journals. */
  readonly journalDir: string;
  /** Maximum disk space for one process's journal. */
  readonly journalMaxBytes: number;
  /** Milliseconds for which reports and the export wait for the counts of a replica that has stopped reporting. */
  readonly lostAfterMs: number;
  /** Days for which hourly usage is kept. */
  readonly hourlyRetentionDays: number;
  /** Months for which daily usage is kept, in addition to the current month. */
  readonly retentionMonths: number;
  /** Maximum number of keys per account and hour that get a usage row of their own; the other keys share one row. */
  readonly keysPerAccountHour: number;
  /** Name of the response header in which upstreams state units; `null` if there is none. */
  readonly unitsHeader: string | null;
  /** `null` if usage is not exported. */
  readonly export: UsageExportConfig | null;
}

export interface UsageExportConfig {
  readonly url: string;
  /** File that contains the value of the `Authorization` header. */
  readonly authorizationFile: string | null;
  readonly format: 'batch' | 'single';
  /** Maximum number of events per request. */
  readonly batchSize: number;
  readonly timeoutMs: number;
  /** Which id of an account exported events carry. An account without an external id always appears by its `id`. */
  readonly subject: 'id' | 'external_id';
  /** Minimum delay between the end of an hour and its export. */
  readonly delayMs: number;
  readonly caFile: string | null;
}

export interface TracingConfig {
  /** URL at which an OTLP/HTTP collector accepts traces. */
  readonly endpoint: string;
  /** Fraction, from 0 to 1, of requests to trace. Applies only to requests that arrive without a trace. */
  readonly sampleRatio: number;
  readonly serviceName: string;
}

export interface LimitsConfig {
  readonly maxHeaders: number;
  readonly maxHeaderBytes: number;
  readonly headTimeoutMs: number;
  /** Maximum pause of a client in the middle of a body, or of one end of a WebSocket while bytes wait for that end. */
  readonly bodyIdleMs: number;
  /** Minimum rate at which a client must send or receive a body, in bytes per minute; 0 turns the limit off. */
  readonly minBodyBytesPerMinute: number;
  readonly keepAliveMs: number;
  readonly managementBodyBytes: number;
  readonly maxConnections: number;
  /** Age, give or take a fifth, from which a client's connection ends with its next response. */
  readonly clientConnectionAgeMs: number;
  /** Age, give or take half, from which a connection to an upstream carries no further request. */
  readonly upstreamConnectionAgeMs: number;
  readonly inFlightPerTenant: number;
  /**
   * Maximum number of changes per second for one parent; 0 turns the limit off. Applies only to changes that every
   * replica must confirm.
   */
  readonly changesPerSecond: number;
  /** Maximum number of management reads per second for one parent; 0 turns the limit off. */
  readonly readsPerSecond: number;
  /** Milliseconds that a request waits for the database's answer about a quota. */
  readonly answerMs: number;
  readonly subAccountsPerParent: number;
  readonly keysPerAccount: number;
  /** Event-loop delay above which requests are shed; 0 turns shedding by delay off. */
  readonly maxEventLoopDelayMs: number;
  /** Heap size above which requests are shed; 0 turns shedding by heap off. */
  readonly maxHeapBytes: number;
  /** Size of heap and buffers together above which requests are shed; 0 turns shedding by memory off. */
  readonly maxMemoryBytes: number;
  /** Budget for bytes that wait in memory for clients; `Infinity` for none. */
  readonly heldBytes: number;
}
