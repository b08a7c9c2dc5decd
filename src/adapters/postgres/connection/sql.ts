import postgres, { type ISql, type Options, type Sql as PostgresSql } from 'postgres';
import { dialer } from './dial.ts';
import { verification } from './verification.ts';

/** A connection. `bigint` columns are read as numbers, since positions and counts stay below 2^53. */
export type Sql = PostgresSql<{ bigint: number }>;

/** The part of a connection's interface that transactions also have. */
export type Statements = ISql<{ bigint: number }>;

/** A statement or transaction to run on a connection. */
export type Work<T> = (sql: Sql) => PromiseLike<T>;

/** Creates a client that holds one connection; `extra` has options for that connection only. */
export type Connect = (extra?: ConnectionExtra) => Sql;
export interface ConnectionExtra {
  readonly onnotify?: (channel: string, payload: string) => void;
  readonly onclose?: () => void;
  /** @param notice fields of the notice, such as `message` and `routine` */
  readonly onnotice?: (notice: Readonly<Record<string, string>>) => void;
}

/** Connection options that are not part of the URL. */
export interface ConnectOptions {
  /**
   * Whether the URL leads to a transaction pooler (PgBouncer). Behind a pooler, no session state survives from one
   * transaction to the next.
   */
  readonly pooled?: boolean;
  /** Milliseconds after which an unused connection is closed; the next statement opens it again. */
  readonly idleMs?: number;
}

type ClientOptions = Options<{ bigint: postgres.PostgresType<number> }>;

/** Options of every connection. */
export const baseOptions = {
  max: 1,
  // Fetching types would cost each new connection a round trip. Arrays are sent as JSON instead.
  fetch_types: false,
  connect_timeout: 2,
  // `dialer` pauses between connection attempts, so postgres.js does not need to.
  backoff: () => 0,
  // By default, the library prints notices to the console.
  onnotice: (_notice: Readonly<Record<string, string>>): void => undefined,
  types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } },
} satisfies ClientOptions;

/**
 * Returns a function that connects to the PostgreSQL server at a URL. In addition to the options of postgres.js, the
 * URL may have `sslmode=verify-full` with `sslrootcert=<file>`. If the URL leads to a transaction pooler (PgBouncer),
 * `prepare=true` or `prepare=false` says whether the pooler supports prepared statements.
 *
 * @param statementMs milliseconds after which the server cancels a statement; must be less than the client's own
 * deadline
 * @throws Error if the `sslrootcert` file cannot be read
 */
export function connectByUrl(url: string, statementMs: number, options: ConnectOptions = {}): Connect {
  // The string is not parsed as a URL, because a URL cannot contain a list of hosts.
  const [address = '', query] = url.split('?', 2);
  const parameters = new URLSearchParams(query);
  const ssl = verification(address, parameters);
  const prepare = parameters.get('prepare');
  const pooled = options.pooled === true || leadsToPooler(url);
  // A pooler rejects start-up parameters that it does not know, so none are sent through it; the database role's
  // settings apply instead.
  const session = pooled
    ? {}
    : {
        statement_timeout: statementMs,
        idle_in_transaction_session_timeout: statementMs,
        // Changes must see everything that was committed while they waited for a lock (`require_read_committed`),
        // whatever the server's default is.
        default_transaction_isolation: 'read committed' as const,
        // What rows look like must not depend on defaults of the server, database or role (`require_settings`).
        bytea_output: 'hex',
        DateStyle: 'ISO',
        extra_float_digits: 1,
        standard_conforming_strings: 'on',
        // A statement fails if a policy would hide rows from it: an API key must not be taken for an unknown one.
        row_security: 'off',
        // With `jit`, PostgreSQL would compile statements that it expects to be expensive. A lease renewal cannot wait
        // for the compilation.
        jit: 'off',
        // Reports may take a long time, so each may use only one of the server's processors.
        max_parallel_workers_per_gather: 0,
      };
  return (extra = {}) =>
    postgres(`${address}?${parameters.toString()}`, {
      ...baseOptions,
      ...ssl,
      ...(pooled && { prepare: prepare === 'true' }),
      ...(options.idleMs !== undefined && { idle_timeout: options.idleMs / 1000 }),
      connection: { application_name: 'tenancy-gateway', ...session },
      ...extra,
      // Spread, because the types of postgres.js lack the option `socket`.
      ...{ socket: dialer() },
    });
}

/**
 * Returns whether the URL has `prepare=false`. Operators set it if the URL leads to a pooler that cannot keep prepared
 * statements.
 */
export function leadsToPooler(url: string): boolean {
  return new URLSearchParams(url.split('?', 2)[1]).get('prepare') === 'false';
}
