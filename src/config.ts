import type { GatewayFile } from './config/gateway-file.ts';
import type { Named } from './config/named.ts';
import type { RouteFile } from './config/route-file.ts';
import type { AuthorizationScheme } from './domain/authorization.ts';
import type { HeaderNames } from './domain/header-names.ts';
import type { OperatorRole } from './domain/operator-role.ts';

/** Settings of the file, where their meanings are. */
type File = Named<GatewayFile>;
type Section<Name extends keyof File> = File[Name];

/** Settings that are in the configuration as they are in the file. */
type Unchanged = Pick<
  File,
  | 'listen'
  | 'redis'
  | 'migrate'
  | 'keys'
  | 'problems'
  | 'reference'
  | 'management'
  | 'events'
  | 'log'
  | 'drainMs'
  | 'drainDelayMs'
  | 'drainIdleMs'
>;

/** A configuration that has been checked as a whole. Durations are milliseconds, sizes bytes. */
export interface Config extends Unchanged {
  readonly internal: Pick<File['internal'], 'host' | 'port'>;
  /** The portal; `null` if there is none. */
  readonly portal: PortalConfig | null;
  /** Tokens of the operator API, which is off if there is none. */
  readonly operators: readonly OperatorToken[];
  readonly store: StoreConfig;
  readonly coherence: CoherenceConfig;
  /** Number of processes that accept connections on the listeners. */
  readonly workers: number;
  readonly headers: HeaderNames;
  readonly authentication: {
    /** Schemes in which `Authorization` may carry an API key on the public listener; includes `Bearer`. */
    readonly schemes: readonly AuthorizationScheme[];
  };
  /** CIDRs of the proxies whose `X-Forwarded-*` and `X-Request-Id` are trusted. */
  readonly trustedProxies: readonly string[];
  /**
   * Validity of the certificates in the files that the configuration names. These files are read together with the
   * configuration.
   */
  readonly certificates: readonly CertificateConfig[];
  /**
   * Routes; the longest matching prefix wins. The list may be empty only if the store is embedded: all requests then go
   * to the built-in echo upstream.
   */
  readonly routes: readonly RouteConfig[];
  readonly limits: LimitsConfig;
  readonly usage: UsageConfig;
  /** `null` if requests are not traced. */
  readonly tracing: TracingConfig | null;
}

/** Validity of a certificate. Its times are wall-clock milliseconds since 1970. */
export interface CertificateConfig {
  readonly use: 'listener' | 'upstream_ca' | 'upstream_client' | 'redis_ca' | 'redis_client';
  /** Prefix of the route that uses the certificate for its upstream; `null` if no route uses it. */
  readonly route: string | null;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

export type ListenConfig = File['listen'];

/** Page for the people of parents, on a listener of its own. */
export interface PortalConfig extends Omit<Section<'portal'>, 'logoFile'> {
  readonly port: number;
  /** Address of the page as browsers see it. Ends with a slash. */
  readonly url: string;
  /** Picture beside the name. Text, because workers get the configuration as JSON. */
  readonly logo: { readonly type: string; readonly base64: string } | null;
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

export interface CoherenceConfig extends Pick<Section<'coherence'>, 'leaseMs' | 'maxFacts'> {
  /** How many milliseconds streams may outlive the lease, called S in `docs/coherence.md`. */
  readonly streamsMs: number;
}

export interface RouteConfig extends Omit<Named<RouteFile>, 'authentication' | 'openPerSecond' | 'cors'> {
  /** Set if the route serves requests without a key (`authentication: none`); `null` if it authenticates each one. */
  readonly open: { readonly perSecond: number } | null;
  /** CORS headers that the gateway sets; `null` to pass on the upstream's headers unchanged. */
  readonly cors: CorsConfig | null;
}

export interface CorsConfig extends NonNullable<Named<RouteFile>['cors']> {
  readonly headers: readonly string[];
  readonly expose: readonly string[];
}

export interface UsageConfig extends Section<'usage'> {
  readonly journalDir: string;
}

export type UsageExportConfig = NonNullable<UsageConfig['export']>;

export interface TracingConfig extends Section<'tracing'> {
  readonly endpoint: string;
}

export interface LimitsConfig extends Section<'limits'> {
  /** Age, give or take a fifth, from which a client's connection ends with its next response. */
  readonly clientConnectionAgeMs: number;
  /** Age, give or take half, from which a connection to an upstream carries no further request. */
  readonly upstreamConnectionAgeMs: number;
  /** Heap size above which requests are shed; 0 turns shedding by heap off. */
  readonly maxHeapBytes: number;
  /** Size of heap and buffers together above which requests are shed; 0 turns shedding by memory off. */
  readonly maxMemoryBytes: number;
  /** Budget for bytes that wait in memory for clients; `Infinity` for none. */
  readonly heldBytes: number;
}
