import type { CoherenceLog } from '../../ports/coherence-log.ts';
import type { MonthTotals } from '../../ports/limits/month-totals.ts';
import type { ShareBoard } from '../../ports/limits/share-board.ts';
import type { EventStore } from '../../ports/events.ts';
import type { FactSource } from '../../ports/facts.ts';
import type { OldSnapshots } from '../../ports/old-snapshots.ts';
import type { PoolState } from '../../ports/pool-state.ts';
import type { ReplicaList } from '../../ports/replica-list.ts';
import type { Imports } from '../../ports/imports.ts';
import type { TenantStore } from '../../ports/tenant-store.ts';
import type { UsageStore } from '../../ports/usage.ts';
import type { UsageExportStore } from '../../ports/usage/export.ts';
import { coherenceLog } from './coherence/coherence-log.ts';
import { factSource } from './coherence/fact-source.ts';
import { Hints } from './coherence/hints.ts';
import { Session } from './coherence/session.ts';
import { eventStore } from './events/event-store.ts';
import { postgresMonthTotals } from './limits/month-totals.ts';
import { postgresShareBoard } from './limits/share-board.ts';
import { checkSchema, SchemaMismatch } from './schema/applied.ts';
import { migrate, type MigrationEvents } from './schema/migrate.ts';
import { Limit, Pool, type Runner } from './connection/pool.ts';
import { oldSnapshots } from './coherence/old-snapshots.ts';
import { replicaList } from './coherence/replica-list.ts';
import { connectByUrl, leadsToPooler, type Connect, type ConnectOptions } from './connection/sql.ts';
import { importedKeysLike } from './tenants/imported-keys-like.ts';
import { tenantStore } from './tenants/tenant-store.ts';
import { usageExportStore } from './usage/export-store.ts';
import { usageStore } from './usage/usage-store.ts';

/** Everything the gateway stores, in PostgreSQL or in the embedded store. */
export interface Store {
  readonly tenants: TenantStore & Imports;
  readonly events: EventStore;
  readonly facts: FactSource;
  readonly log: CoherenceLog;
  readonly usage: UsageStore;
  /** What replicas tell each other of limits, where there is no Redis. */
  readonly shareBoard: ShareBoard;
  readonly monthTotals: MonthTotals;
  readonly usageExport: UsageExportStore;
  readonly replicaList: ReplicaList;
  readonly oldSnapshots: OldSnapshots;
  /** How busy the connections are that all but the lease and migrations share. */
  readonly pool: () => PoolState;
  /**
   * Brings the schema up to this code; see {@link migrate}. Rejects with `ProblemError` `unavailable` where trying
   * again may help, and with {@link SchemaMismatch} where it cannot.
   */
  migrate(events?: MigrationEvents): Promise<number>;
  /** Resolves while the store can be reached and its schema is one this code can work on. */
  ping(): Promise<void>;
  /**
   * How many active imported keys begin with `prefix` and `_` as far as they are shown, or may, and were not imported while it was
   * `keys.prefix`. Reads all keys, which may take seconds.
   */
  importedKeysLike(prefix: string): Promise<number>;
  /** Notes that a backup was brought back: what replicas have in memory belongs to a history that is gone. */
  markRestored(): Promise<void>;
  /** Ends every connection; calls after that reject. */
  close(): Promise<void>;
}

export interface PostgresOptions {
  readonly url: string;
  /** Where a session can be had, if `url` leads to a transaction pooler: for LISTEN, the lease and migrations. */
  readonly directUrl?: string | null;
  /** Connections at most, of all kinds together; at least {@link fewestConnections} are used. */
  readonly maxConnections: number;
  /** Deadlines of one statement, in milliseconds, waiting for a connection included. */
  readonly deadlines?: Partial<Deadlines>;
}

export interface Deadlines {
  /** Of the lease, and reading facts that requests wait for: what the lease allows (`storeMsFor`). */
  readonly coherenceMs: number;
  /** Management, and adding usage. */
  readonly queryMs: number;
  /** A shared connection that was not used for this long is closed. */
  readonly idleMs: number;
}

const usualDeadlines: Deadlines = { coherenceMs: 1_500, queryMs: 5_000, idleMs: 30_000 };
/**
 * What a statement may take on the server, as a share of its deadline here. The server gives up first, so that a slow
 * statement costs an error and not the connection, and holds its locks for no longer. In a pool it may have waited for a
 * connection for half of its deadline; on the one that is held only connecting comes before it.
 */
const serversShare = { pooled: 0.4, held: 0.8 };
const migrationMs = 600_000;
/** Longer than between two looks at the schema, so that all of a migration is one connection, which is closed after it. */
const migrationIdleMs = 1_000;
/** One that is held, for the lease; one that only facts are read on, one that only changes have, and one for either. */
const fewestConnections = 4;
/** Deadline of a statement about what is used of limits: later it is out of date. */
const usedLimitsMs = 1_000;
/** Reports at once. */
const reportsMost = 4;

/**
 * A store in PostgreSQL. Connects when it is first used, and whenever it has to again: a server that cannot be
 * reached makes calls reject, never this one.
 */
export function openPostgres({ url, directUrl, maxConnections, deadlines }: PostgresOptions): Store {
  const { coherenceMs, queryMs, idleMs } = { ...usualDeadlines, ...deadlines };
  const connect = (to: string, deadlineMs: number, options?: ConnectOptions): Connect =>
    connectByUrl(to, Math.ceil(deadlineMs * serversShare.pooled), options);
  const direct = directUrl ?? url;
  const hints = new Hints();
  const held = connectByUrl(direct, Math.ceil(coherenceMs * serversShare.held));
  const session = new Session(held, hints, coherenceMs, leadsToPooler(direct));
  const size = Math.max(fewestConnections, maxConnections) - 1;
  const shared = new Pool(connect(url, queryMs, { pooled: direct !== url, idleMs }), size);
  const { facts, others, reports, background, usedLimits } = limits(size);
  const migrations = new Pool(connect(direct, migrationMs, { idleMs: migrationIdleMs }), 1);
  return assembleStore({
    facts: shared.withDeadline(coherenceMs, 'facts', facts),
    queries: shared.withDeadline(queryMs, 'queries', others),
    reports: shared.withDeadline(queryMs, 'reports', others, reports),
    background: shared.withDeadline(queryMs, 'background', others, background),
    usedLimits: shared.withDeadline(usedLimitsMs, 'limits', others, usedLimits),
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

type LimitName = 'facts' | 'others' | 'reports' | 'background' | 'usedLimits';

/**
 * What may have how many of the shared connections. Changes that wait for locks and reports that read a million rows leave
 * one for look-ups; a flood of look-ups leaves one for changes; a tenant's changes and reports leave one for another's.
 */
function limits(shared: number): Readonly<Record<LimitName, Limit>> {
  const facts = shared - 1;
  const others = Math.floor((shared * 2) / 3);
  const reports = Math.min(Math.max(1, Math.floor(others / 4)), reportsMost);
  return {
    facts: new Limit(facts, facts - 1),
    others: new Limit(others, Math.floor(others / 2)),
    reports: new Limit(reports),
    background: new Limit(1),
    usedLimits: new Limit(1),
  };
}

/** What a store is made of: the same statements over whatever runs them. */
export interface StoreParts {
  readonly facts: Runner;
  readonly queries: Runner;
  readonly reports: Runner;
  /** What no request waits for. */
  readonly background: Runner;
  /** What is used of limits; no request waits for it, and it is of no use late. */
  readonly usedLimits: Runner;
  /** Must not wait for any of the above. */
  readonly log: Runner;
  readonly migrations: Runner;
  readonly pool: () => PoolState;
  readonly hints: Hints;
  readonly onFirstHintWanted: () => void;
  readonly close: () => Promise<void>;
}

/** Puts a store together. */
export function assembleStore(parts: StoreParts): Store {
  const {
    facts,
    queries,
    reports,
    background,
    usedLimits,
    log,
    migrations,
    hints,
    onFirstHintWanted,
    close,
  } = parts;
  let closing: Promise<void> | undefined;
  return {
    tenants: tenantStore(queries, hints),
    events: eventStore(queries, reports, background),
    facts: factSource(facts),
    log: coherenceLog(log, background, {
      add: (listener) => {
        hints.add(listener);
        onFirstHintWanted();
      },
    }),
    usage: usageStore(queries, reports, background),
    shareBoard: postgresShareBoard(usedLimits),
    monthTotals: postgresMonthTotals(usedLimits),
    usageExport: usageExportStore(reports, background),
    replicaList: replicaList(queries),
    oldSnapshots: oldSnapshots(log),
    pool: parts.pool,
    migrate: (events) => migrate(migrations, events, queries).catch(unwrapMismatch),
    ping: async () => {
      await queries.run(checkSchema);
    },
    importedKeysLike: (prefix) => importedKeysLike(migrations, prefix),
    markRestored: async () => {
      await queries.run(
        (sql) => sql`
          with marked as (update coherence_seq set marker = gen_random_uuid() returning v)
          select pg_notify('tenancy_gateway_coherence', v::text) from marked`,
      );
      hints.nudge();
    },
    close: () => (closing ??= close()),
  };
}

/** A mismatch is thrown as it is, since `unavailable` would make the caller try again, which cannot help. */
function unwrapMismatch(error: unknown): never {
  throw error instanceof Error && error.cause instanceof SchemaMismatch ? error.cause : error;
}
