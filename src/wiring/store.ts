import type { Config } from '../config.ts';
import { openPostgres, type Deadlines, type Store } from '../adapters/postgres/store.ts';
import { storeMsFor } from '../coherence/timing.ts';
import type { Registry } from 'prom-client';
import type { Logger } from '../ops/logger.ts';
import { poolMetrics, statementTimes } from '../ops/store-metrics.ts';
import type { Clock } from '../ports/clock.ts';

export type { Store };

/**
 * Opens the configured store. A PostgreSQL store connects on first use. A missing embedded store is created on first
 * use.
 */
export async function openStore(
  { store, coherence, limits }: Pick<Config, 'store' | 'coherence' | 'limits'>,
  logger: Pick<Logger, 'info'>,
  deadlines: Partial<Deadlines>,
): Promise<Store> {
  if (store.kind === 'postgres') {
    return openPostgres({
      ...store,
      deadlines: {
        coherenceMs: storeMsFor(coherence.leaseMs),
        tokensMs: limits.answerMs + 1_000,
        ...deadlines,
      },
    });
  }
  // The import is dynamic, because the container image does not contain the embedded store.
  const { openEmbedded } = await import('../adapters/embedded/store.ts').catch(explain);
  return openEmbedded(store.dataDir, () =>
    logger.info({ data_dir: store.dataDir }, 'making the embedded store; this takes some seconds'),
  );
}

/** Wraps a store so that `registry` shows its connections and how long its calls take. */
export function measured(store: Store, registry: Registry, clock: Pick<Clock, 'monotonicMs'>): Store {
  poolMetrics(registry, store.pool);
  const timed = statementTimes(registry, clock);
  return {
    ...store,
    tenants: timed('tenants', store.tenants),
    facts: timed('facts', store.facts),
    log: timed('log', store.log),
    usage: timed('usage', store.usage),
    buckets: timed('buckets', store.buckets),
    quotas: (replica) => timed('quotas', store.quotas(replica)),
    usageExport: timed('usageExport', store.usageExport),
    operatorSessions: timed('operatorSessions', store.operatorSessions),
    portalSessions: timed('portalSessions', store.portalSessions),
    replicaList: timed('replicaList', store.replicaList),
    figures: timed('figures', store.figures),
    tails: timed('tails', store.tails),
    oldSnapshots: timed('oldSnapshots', store.oldSnapshots),
  };
}

function explain(error: unknown): never {
  if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
  throw new Error('the embedded store is not installed here: set DATABASE_URL', { cause: error });
}
