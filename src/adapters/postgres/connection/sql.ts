import postgres, { type ISql, type Options, type Sql as PostgresSql } from 'postgres';
import { dialer } from './dial.ts';
import { verification } from './verification.ts';

/** A connection as everything here uses it: `bigint` columns are numbers (positions and counts stay below 2^53). */
export type Sql = PostgresSql<{ bigint: number }>;

/** The part of it that a transaction offers too. */
export type Statements = ISql<{ bigint: number }>;

/** One statement or transaction to run on a connection. */
export type Work<T> = (sql: Sql) => PromiseLike<T>;

/** How to make a client that holds one connection; `extra` is what this connection needs beside it. */
export type Connect = (extra?: ConnectionExtra) => Sql;
export interface ConnectionExtra {
  readonly onnotify?: (channel: string, payload: string) => void;
  readonly onclose?: () => void;
  /** @param notice its fields, such as `message` and `routine` */
  readonly onnotice?: (notice: Readonly<Record<string, string>>) => void;
}

/** What a URL does not say of a connection. */
export interface ConnectOptions {
  /** A transaction pooler (PgBouncer) is between: nothing may be kept in a session. */
  readonly pooled?: boolean;
  /** Milliseconds after which a connection that is not used is closed; the next statement opens it again. */
  readonly idleMs?: number;
}

type ClientOptions = Options<{ bigint: postgres.PostgresType<number> }>;

/** What every connection has, over whatever it travels. */
export const baseOptions = {
  max: 1,
  // Saves a round trip on every connect; arrays travel as JSON.
  fetch_types: false,
  connect_timeout: 2,
  // `dialer` makes the pauses.
  backoff: () => 0,
  // The default prints to the console.
  onnotice: (_notice: Readonly<Record<string, string>>): void => undefined,
  types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } },
} satisfies ClientOptions;

/**
 * Connects to a PostgreSQL server by URL. Understood beside what postgres.js documents: `sslmode=verify-full`
 * with `sslrootcert=<file>`, and `prepare=false` for a transaction pooler (PgBouncer) without prepared statements;
 * `prepare=true` for a pooler that has them.
 *
 * @param statementMs the server gives up on a statement after this long; set below the client's own deadline
 */
export function connectByUrl(url: string, statementMs: number, options: ConnectOptions = {}): Connect {
  // Not read as a URL: a list of hosts is none.
  const [address = '', query] = url.split('?', 2);
  const parameters = new URLSearchParams(query);
  const ssl = verification(address, parameters);
  const prepare = parameters.get('prepare');
  const pooled = options.pooled === true || leadsToPooler(url);
  // A pooler rejects start-up parameters it does not know; there the role's own settings apply.
  const session = pooled
    ? {}
    : {
        statement_timeout: statementMs,
        idle_in_transaction_session_timeout: statementMs,
        // Changes see what was committed while they waited for a lock (`require_read_committed`), whatever others want of this server.
        default_transaction_isolation: 'read committed' as const,
        // Compiling a statement takes longer than a lease can wait, and PostgreSQL does so where it expects many rows.
        jit: 'off',
        // A report may take long: it takes one of the server's processors, others wait for them.
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
      // An option that the types do not know.
      ...{ socket: dialer() },
    });
}

/** Whether a URL says of itself that a transaction pooler without prepared statements is there. */
export function leadsToPooler(url: string): boolean {
  return new URLSearchParams(url.split('?', 2)[1]).get('prepare') === 'false';
}
