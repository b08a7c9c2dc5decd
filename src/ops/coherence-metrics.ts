import type { Registry } from 'prom-client';
import type { CoherenceSnapshot } from '../coherence/coherence.ts';
import type { CoherenceEvents } from '../coherence/events.ts';
import { Histogram } from './histogram.ts';
import { counter, gauge } from './metrics.ts';

const waitBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const breakerStates = { closed: 0, 'half-open': 1, open: 2 } as const;

/** Counts coherence events and exposes the state of coherence. */
export function coherenceMetrics(
  registry: Registry,
  snapshot: () => CoherenceSnapshot | null,
): CoherenceEvents {
  const events = { ...countFacts(registry), ...countLeases(registry), ...countBarrier(registry) };
  replicaGauges(registry, snapshot);
  return events;
}

/** Counts decisions by the place in which their facts were found, and reads of Redis by outcome. */
function countFacts(registry: Registry): CoherenceEvents {
  const decided = counter(
    registry,
    'fact_lookups_total',
    'Decisions by the place in which their facts were found.',
    'found',
  );
  const shared = counter(registry, 'shared_cache_reads_total', 'Reads of Redis.', 'outcome');
  const stale = counter(
    registry,
    'stale_facts_refused_total',
    'Values that were too old to decide by and were read again.',
    'from',
  );
  const differed = counter(
    registry,
    'facts_differed_total',
    'Facts in memory that differed from PostgreSQL without a logged change, and were replaced.',
  );
  let breaker: keyof typeof breakerStates = 'closed';
  gauge(
    registry,
    'shared_cache_breaker',
    'State of the breaker of Redis: 0 closed, 1 half open, 2 open.',
    () => breakerStates[breaker],
  );
  return {
    cacheHit: () => decided.count('memory'),
    cacheMiss: () => decided.count('elsewhere'),
    negativeHit: () => decided.count('unknown-key'),
    staleRefused: (from) => stale.count(from),
    sharedCacheHit: () => shared.count('hit'),
    sharedCacheMiss: () => shared.count('miss'),
    sharedCacheAhead: () => shared.count('ahead'),
    breakerState: (state) => void (breaker = state),
    factsDiffered: (keys) => differed.add(keys.size),
  };
}

function countLeases(registry: Registry): CoherenceEvents {
  const leases = counter(
    registry,
    'lease_events_total',
    'Renewals, failed renewals and lapses of the lease.',
    'event',
  );
  const forgotten = counter(
    registry,
    'coherence_restarts_total',
    'Times this replica forgot all facts and started again.',
  );
  const renewals = waitHistogram(registry, 'lease_renewal_seconds', 'Time that a renewal of the lease took.');
  return {
    leaseRenewed: (ms) => {
      leases.count('renewed');
      renewals(ms / 1000);
    },
    leaseRenewalFailed: () => leases.count('renewal-failed'),
    leaseLapsed: () => leases.count('lapsed'),
    forgotten: () => forgotten.count(),
  };
}

/** Counts how long changes wait for replicas. */
function countBarrier(registry: Registry): CoherenceEvents {
  const timedOut = counter(
    registry,
    'barrier_unheard_total',
    'Changes whose 2xx waited until the lease of a replica ran out.',
  );
  const waits = waitHistogram(
    registry,
    'barrier_wait_seconds',
    'Time that changes waited until every replica enforced them.',
  );
  return {
    barrierWait: (ms, replicas) => {
      waits(ms / 1000);
      if (replicas > 0) timedOut.count();
    },
  };
}

function replicaGauges(registry: Registry, snapshot: () => CoherenceSnapshot | null): void {
  gauge(
    registry,
    'lease_remaining_seconds',
    'Time for which this replica may still decide without a renewal.',
    () => Math.max(0, (snapshot()?.leaseRemainingMs ?? 0) / 1000),
    'min',
  );
  gauge(
    registry,
    'coherence_position',
    'Position in the log that this replica decides by.',
    () => snapshot()?.applied ?? 0,
    'min',
  );
  gauge(
    registry,
    'replicas',
    'Registered replicas at the last count.',
    () => snapshot()?.replicas.length ?? 0,
  );
  gauge(
    registry,
    'facts_in_memory',
    'Keys and accounts held in memory.',
    () => snapshot()?.facts ?? 0,
    'sum',
  );
  gauge(
    registry,
    'clock_offset_seconds',
    "How far the wall clock of this machine is ahead of PostgreSQL's. Keys expire by PostgreSQL's clock.",
    () => (snapshot()?.clockAheadMs ?? 0) / 1000,
    'max',
  );
  gauge(
    registry,
    'oldest_fact_seconds',
    'Time since the oldest fact in memory was read from PostgreSQL.',
    () => (snapshot()?.oldestFactMs ?? 0) / 1000,
    'max',
  );
}

function waitHistogram(registry: Registry, name: string, help: string): (seconds: number) => void {
  return new Histogram(registry, `tenancy_gateway_${name}`, help, waitBounds).series({});
}
