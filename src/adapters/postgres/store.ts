import type { CoherenceLog } from '../../ports/coherence-log.ts';
import type { FactSource } from '../../ports/facts.ts';
import type { ReplicaList } from '../../ports/replica-list.ts';
import type { TenantStore } from '../../ports/tenant-store.ts';
import type { UsageStore } from '../../ports/usage.ts';
import { coherenceLog } from './coherence/coherence-log.ts';
import { factSource } from './coherence/fact-source.ts';
import { Hints } from './coherence/hints.ts';
import { Listener } from './coherence/listener.ts';
import { checkSchema, SchemaMismatch } from './schema/applied.ts';
import { migrate, type MigrationEvents } from './schema/migrate.ts';
import { Pool, type Runner } from './connection/pool.ts';
import { replicaList } from './coherence/replica-list.ts';
import { connectByUrl, type Session } from './connection/sql.ts';
import { tenantStore } from './tenants/tenant-store.ts';
import { usageStore } from './usage/usage-store.ts';

/** Everything the gateway stores, in PostgreSQL or in the embedded store. */
export interface Store {
  readonly tenants: TenantStore;
  readonly facts: FactSource;
  readonly log: CoherenceLog;
  readonly usage: UsageStore;
  readonly replicaList: ReplicaList;
  /**
   * Brings the schema up to this code; see {@link migrate}. Rejects with `ProblemError` `unavailable` where trying
   * again may help, and with {@link SchemaMismatch} where it cannot.
   */
  migrate(events?: MigrationEvents): Promise<number>;
  /** Resolves while the store can be reached and its schema is one this code can work on. */
  ping(): Promise<void>;
  /** Notes that a backup was brought back: what replicas have in memory belongs to a history that is gone. */
  markRestored(): Promise<void>;
  /** Ends every connection; calls after that reject. */
  close(): Promise<void>;
}

export interface PostgresOptions {
  readonly url: string;
  /** Connections at most, of all kinds together; at least {@link fewestConnections} are used. */
  readonly maxConnections: number;
  /** Deadlines of one statement, in milliseconds, waiting for a connection included. */
  readonly deadlines?: Partial<Deadlines>;
}

export interface Deadlines {
  /** A fact that requests wait for. */
  readonly factMs: number;
  /** A step of the lease. Below what the lease itself waits for one, or a frozen connection outlives the step. */
  readonly logMs: number;
  /** Management, and adding usage. */
  readonly queryMs: number;
}

const usualDeadlines: Deadlines = { factMs: 1_500, logMs: 1_000, queryMs: 5_000 };
const migrationMs = 600_000;
/** Two for the log, one that listens, one for facts, one for everything else. */
const fewestConnections = 5;
/** Beside those at most, for one that reports have to themselves. */
const reportConnectionsMost = 4;

/**
 * A store in PostgreSQL. Connects when it is first used, and whenever it has to again: a server that cannot be
 * reached makes calls reject, never this one.
 */
export function openPostgres({ url, maxConnections, deadlines }: PostgresOptions): Store {
  const { factMs, logMs, queryMs } = { ...usualDeadlines, ...deadlines };
  // The server gives up before we do, so that a slow statement costs an error and not the connection.
  const connect = (deadlineMs: number, session?: Session): ReturnType<typeof connectByUrl> =>
    connectByUrl(url, Math.ceil(deadlineMs * 0.4), session);
  const size = sizes(Math.max(fewestConnections, maxConnections));
  const facts = new Pool(connect(factMs), size.facts);
  const queries = new Pool(connect(queryMs), size.queries);
  const reports =
    size.reports === 0 ? queries : new Pool(connect(queryMs, { onOneCore: true }), size.reports);
  const log = new Pool(connect(logMs), 2);
  const migrations = new Pool(connect(migrationMs), 1);
  const hints = new Hints();
  const listener = new Listener(connect(queryMs), hints);
  return assembleStore({
    facts: facts.withDeadline(factMs),
    queries: queries.withDeadline(queryMs),
    reports: reports.withDeadline(queryMs, 'reports'),
    log: log.withDeadline(logMs),
    migrations: migrations.withDeadline(migrationMs),
    hints,
    onFirstHintWanted: () => listener.start(),
    close: async () => {
      await Promise.all([facts, queries, reports, log, migrations, listener].map((each) => each.close()));
    },
  });
}

/**
 * How many connections are for what, beside the log's two and the one that listens. A report may read a million rows, so
 * it has connections of its own as soon as there is more than one for everything else.
 */
function sizes(maxConnections: number): {
  readonly facts: number;
  readonly queries: number;
  readonly reports: number;
} {
  const shared = maxConnections - 3;
  const facts = Math.ceil(shared / 3);
  const others = shared - facts;
  const reports = others < 2 ? 0 : Math.min(Math.ceil(others / 4), reportConnectionsMost);
  return { facts, reports, queries: others - reports };
}

/** What a store is made of: the same statements over whatever runs them. */
export interface StoreParts {
  readonly facts: Runner;
  readonly queries: Runner;
  readonly reports: Runner;
  readonly log: Runner;
  readonly migrations: Runner;
  readonly hints: Hints;
  readonly onFirstHintWanted: () => void;
  readonly close: () => Promise<void>;
}

/** Puts a store together. */
export function assembleStore(parts: StoreParts): Store {
  const { facts, queries, reports, log, migrations, hints, onFirstHintWanted, close } = parts;
  let closing: Promise<void> | undefined;
  return {
    tenants: tenantStore(queries, hints),
    facts: factSource(facts),
    log: coherenceLog(log, {
      add: (listener) => {
        hints.add(listener);
        onFirstHintWanted();
      },
    }),
    usage: usageStore(queries, reports),
    replicaList: replicaList(queries),
    migrate: (events) => migrate(migrations, events, queries).catch(unwrapMismatch),
    ping: async () => {
      await queries.run(checkSchema);
    },
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
