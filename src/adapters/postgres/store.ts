import type { CoherenceLog } from '../../ports/coherence-log.ts';
import type { TokenStore } from '../../ports/limits/token-store.ts';
import type { ErasureStore } from '../../ports/erasures.ts';
import type { EventStore } from '../../ports/events.ts';
import type { FactSource } from '../../ports/facts.ts';
import type { OldSnapshots } from '../../ports/old-snapshots.ts';
import type { OperatorSessionStore } from '../../ports/operator-sessions.ts';
import type { PoolState } from '../../ports/pool-state.ts';
import type { PortalSessionStore } from '../../ports/portal-sessions.ts';
import type { FigureStore } from '../../ports/replica-figures.ts';
import type { ReplicaList } from '../../ports/replica-list.ts';
import type { Imports } from '../../ports/imports.ts';
import type { Plans } from '../../ports/plans.ts';
import type { TailStore } from '../../ports/tails.ts';
import type { TenantStore } from '../../ports/tenant-store.ts';
import type { UsageStore } from '../../ports/usage.ts';
import type { UsageExportStore } from '../../ports/usage/export.ts';
import { coherenceLog } from './coherence/coherence-log.ts';
import { factSource } from './coherence/fact-source.ts';
import { Hints } from './coherence/hints.ts';
import { Session } from './coherence/session.ts';
import { erasureStore } from './erasures/erasure-store.ts';
import { eventStore } from './events/event-store.ts';
import { figureStore } from './live/figure-store.ts';
import { tailStore } from './live/tail-store.ts';
import { postgresBuckets, postgresQuotas } from './limits/token-stores.ts';
import { portalStore } from './sessions/portal-store.ts';
import { sessionStore } from './sessions/session-store.ts';
import { checkSchema, SchemaMismatch } from './schema/applied.ts';
import { readSchemaFiles } from './schema/files.ts';
import { migrate, type MigrationEvents } from './schema/migrate.ts';
import { Limit, Pool, type Runner } from './connection/pool.ts';
import { oldSnapshots } from './coherence/old-snapshots.ts';
import { replicaList } from './coherence/replica-list.ts';
import { connectByUrl, leadsToPooler, type Connect, type ConnectOptions } from './connection/sql.ts';
import { importedKeysLike } from './tenants/imported-keys-like.ts';
import { Changes } from './tenants/changes.ts';
import { tenantStore } from './tenants/tenant-store.ts';
import { usageExportStore } from './usage/export-store.ts';
import { usageStore } from './usage/usage-store.ts';

/** All stored data, in PostgreSQL or in the embedded store. */
export interface Store {
  readonly tenants: TenantStore & Imports & Plans;
  readonly events: EventStore;
  readonly erasures: ErasureStore;
  readonly operatorSessions: OperatorSessionStore;
  readonly portalSessions: PortalSessionStore;
  readonly facts: FactSource;
  readonly log: CoherenceLog;
  readonly usage: UsageStore;
  /** Rate limit buckets, for gateways without Redis. */
  readonly buckets: TokenStore;
  /**
   * Returns the token store for quotas.
   *
   * @param replica name under which this process asks for quota units; it must never have been used by any process
   */
  readonly quotas: (replica: string) => TokenStore;
  readonly usageExport: UsageExportStore;
  readonly replicaList: ReplicaList;
  readonly figures: FigureStore;
  readonly tails: TailStore;
  readonly oldSnapshots: OldSnapshots;
  /** Load of the shared connections. The connection held for the lease and the one for migrations are not shared. */
  readonly pool: () => PoolState;
  /**
   * Brings the schema up to this version; see {@link migrate}. Rejects with a `ProblemError` (`unavailable`) if a retry
   * may succeed, and with a {@link SchemaMismatch} if no retry can succeed.
   */
  migrate(events?: MigrationEvents): Promise<number>;
  /**
   * Resolves if the store is reachable and this version can work with its schema and settings.
   *
   * @returns whether PostgreSQL compiles statements (`jit`), which makes reports cost many times as much
   */
  ping(): Promise<{ readonly jit: boolean }>;
  /**
   * Returns the number of active imported keys that may begin with `prefix` followed by `_`. The store keeps only the
   * start of each key. If that start is shorter than `prefix` and `_`, only its characters are compared. Keys that were
   * imported while `keys.prefix` was `prefix` are left out. The call reads all keys, which may take seconds.
   */
  importedKeysLike(prefix: string): Promise<number>;
  /**
   * Records that a backup was restored. Replicas then discard the facts in their memory, because those facts belong to
   * a history that no longer exists.
   */
  markRestored(): Promise<void>;
  /** Closes every connection; later calls reject. */
  close(): Promise<void>;
}

export interface PostgresOptions {
  readonly url: string;
  /**
   * URL of the server itself, if `url` leads to a transaction pooler. It is used for LISTEN, the lease and migrations.
   */
  readonly directUrl?: string | null;
  /**
   * Maximum number of open connections; migrations may open one more. A value below {@link fewestConnections} counts as
   * {@link fewestConnections}.
   */
  readonly maxConnections: number;
  /** Statement deadlines in milliseconds, including the wait for a connection. */
  readonly deadlines?: Partial<Deadlines>;
}

export interface Deadlines {
  /**
   * Deadline of lease statements, and of fact reads that a request waits for. `storeMsFor` computes it from the lease
   * duration.
   */
  readonly coherenceMs: number;
  /** Deadline of statements for management calls, and of statements that add usage. */
  readonly queryMs: number;
  /** Deadline of a request for tokens. HTTP requests stop waiting for the answer before. */
  readonly tokensMs: number;
  /** Milliseconds after which an unused shared connection is closed. */
  readonly idleMs: number;
}

const usualDeadlines: Deadlines = { coherenceMs: 1_500, queryMs: 5_000, tokensMs: 1_000, idleMs: 30_000 };
/**
 * Fractions of a deadline after which the server itself cancels a statement. The statement then releases its locks, and
 * its connection stays usable. `held` is for the connection that holds the lease, and is a fraction of `coherenceMs`.
 * `pooled` is for the connections of a pool, and is a fraction of `queryMs` or, for migrations, of `migrationMs`.
 *
 * `pooled` is smaller, because a statement may have only half of its deadline left when it gets a connection from a
 * pool. On the held connection, a statement waits only while the connection is being opened.
 */
const serversShare = { pooled: 0.4, held: 0.8 };
const migrationMs = 600_000;
/**
 * Milliseconds after which a migration's idle connection is closed. This is longer than the pause between checks of the
 * schema, so that a whole migration uses one connection.
 */
const migrationIdleMs = 1_000;
/**
 * Minimum number of connections: one held for the lease, one only for facts, one only for changes, and one for either
 * facts or changes.
 */
const fewestConnections = 4;
/** Maximum number of reports that run at the same time. */
const reportsMost = 4;

/**
 * Opens a store in PostgreSQL. The store connects on first use and reconnects as needed. If the server is unreachable,
 * calls to the store reject, but this function does not fail.
 *
 * @throws Error if the `sslrootcert` file of a URL cannot be read
 */
export function openPostgres({ url, directUrl, maxConnections, deadlines }: PostgresOptions): Store {
  const { coherenceMs, queryMs, tokensMs, idleMs } = { ...usualDeadlines, ...deadlines };
  const connect = (to: string, deadlineMs: number, options?: ConnectOptions): Connect =>
    connectByUrl(to, Math.ceil(deadlineMs * serversShare.pooled), options);
  const direct = directUrl ?? url;
  const hints = new Hints();
  const held = connectByUrl(direct, Math.ceil(coherenceMs * serversShare.held));
  const session = new Session(held, hints, coherenceMs, leadsToPooler(direct));
  const size = Math.max(fewestConnections, maxConnections) - 1;
  const shared = new Pool(connect(url, queryMs, { pooled: direct !== url, idleMs }), size);
  const { facts, others, reports, visitors, background } = limits(size);
  const migrations = new Pool(connect(direct, migrationMs, { idleMs: migrationIdleMs }), 1);
  return assembleStore({
    facts: shared.withDeadline(coherenceMs, 'facts', facts),
    queries: shared.withDeadline(queryMs, 'queries', others),
    reports: shared.withDeadline(queryMs, 'reports', others, reports),
    visitors: shared.withDeadline(queryMs, 'visitors', others, visitors),
    background: shared.withDeadline(queryMs, 'background', others, background),
    // HTTP requests wait for tokens, so token requests do not share a connection limit with slower statements.
    buckets: shared.withDeadline(tokensMs, 'buckets', new Limit(1)),
    quotas: shared.withDeadline(tokensMs, 'quotas', new Limit(1)),
    log: session,
    migrations: migrations.withDeadline(migrationMs),
    pool: () => shared.state,
    hints,
    onFirstHintWanted: () => session.listen(),
    close: async () => {
      await Promise.all([shared, session, migrations].map((each) => each.close()));
    },
  });
}

type LimitName = 'facts' | 'others' | 'reports' | 'visitors' | 'background';

/**
 * Returns how many shared connections each kind of statement may use. Changes that wait for locks and reports that read
 * a million rows leave at least one connection for fact reads. A flood of fact reads leaves one for changes. One
 * tenant's changes and reports leave one for other tenants. Visitors of the portal together have what one tenant has.
 */
function limits(shared: number): Readonly<Record<LimitName, Limit>> {
  const facts = shared - 1;
  const others = Math.floor((shared * 2) / 3);
  const ofOne = Math.floor(others / 2);
  const reports = Math.min(Math.max(1, Math.floor(others / 4)), reportsMost);
  return {
    facts: new Limit(facts, facts - 1),
    others: new Limit(others, ofOne),
    reports: new Limit(reports),
    visitors: new Limit(ofOne, Math.ceil(ofOne / 2)),
    background: new Limit(1),
  };
}

/** Parts of a store that differ between PostgreSQL and the embedded store. The statements are the same in both. */
export interface StoreParts {
  readonly facts: Runner;
  readonly queries: Runner;
  readonly reports: Runner;
  /** Runs statements of the portal's visitors, whose networks take turns. */
  readonly visitors: Runner;
  /** Runs statements that no request waits for. */
  readonly background: Runner;
  /** Runs token requests for per-second and per-minute limits, one at a time. */
  readonly buckets: Runner;
  /** Runs requests for quota units, one at a time. */
  readonly quotas: Runner;
  /** Runs the statements of the coherence log, which must not wait for other statements. */
  readonly log: Runner;
  readonly migrations: Runner;
  readonly pool: () => PoolState;
  readonly hints: Hints;
  readonly onFirstHintWanted: () => void;
  readonly close: () => Promise<void>;
}

/** Assembles a store from its parts. */
export function assembleStore(parts: StoreParts): Store {
  const { facts, queries, reports, background, log, migrations, hints, onFirstHintWanted, close } = parts;
  let closing: Promise<void> | undefined;
  const changes = new Changes(queries, hints);
  return {
    tenants: tenantStore(queries, changes),
    events: eventStore(queries, reports, background),
    erasures: erasureStore(queries, background),
    operatorSessions: sessionStore(queries),
    portalSessions: portalStore(queries, parts.visitors, changes),
    facts: factSource(facts),
    log: coherenceLog(log, background, {
      add: (listener) => {
        hints.add(listener);
        onFirstHintWanted();
      },
    }),
    usage: usageStore(queries, reports, background),
    buckets: postgresBuckets(parts.buckets),
    quotas: (replica) => postgresQuotas(parts.quotas, background, replica),
    usageExport: usageExportStore(reports, background),
    replicaList: replicaList(queries),
    figures: figureStore(queries),
    tails: tailStore(queries),
    oldSnapshots: oldSnapshots(log),
    pool: parts.pool,
    migrate: (events) => migrate(migrations, events, queries).catch(unwrapMismatch),
    ping: async () => {
      const files = await readSchemaFiles();
      const [settings] = await queries.run(async (sql) => {
        await checkSchema(sql, files);
        return sql<[{ readonly jit: boolean }]>`select pg_jit_available() as jit, require_settings()`;
      });
      return settings;
    },
    importedKeysLike: (prefix) => importedKeysLike(migrations, prefix),
    markRestored: async () => {
      await queries.run(
        (sql) => sql`
          with marked as (update coherence_seq set marker = gen_random_uuid() returning one)
          select pg_notify('tenancy_gateway_coherence', '') from marked`,
      );
      hints.nudge();
    },
    close: () => (closing ??= close()),
  };
}

/**
 * Rethrows an error. If the error's cause is a {@link SchemaMismatch}, throws that mismatch instead: the error itself
 * says `unavailable`, so callers would retry in vain.
 */
function unwrapMismatch(error: unknown): never {
  throw error instanceof Error && error.cause instanceof SchemaMismatch ? error.cause : error;
}
