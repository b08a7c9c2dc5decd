import type { Barrier } from '../ports/barrier.ts';
import type { Clock } from '../ports/clock.ts';
import type { CoherenceLog } from '../ports/coherence-log.ts';
import type { Directory } from '../ports/directory.ts';
import type { FactCache } from '../ports/fact-cache.ts';
import type { FactKey, FactSource, Seq } from '../ports/facts.ts';
import type { ReplicaNote } from '../ports/replica-list.ts';
import type { Timers } from '../ports/timers.ts';
import { CommitBarrier } from './barrier.ts';
import { Membership } from './membership.ts';
import { CoherentDirectory } from './directory.ts';
import type { CoherenceEvents } from './events.ts';
import { Lease } from './lease.ts';
import { Loader } from './loading/loader.ts';
import { Proofs } from './loading/proofs.ts';
import { repeat } from '../timing/repeat.ts';
import { keepLogShort } from './retention.ts';
import { clockWarnings, StoreClock } from './store-clock.ts';
import { passPaceMs, timingFor, type Timing } from './timing.ts';
import { View } from './memory/view.ts';
import { Revocations } from './revocations.ts';

export interface CoherenceParts {
  readonly log: CoherenceLog;
  readonly source: FactSource;
  readonly cache: FactCache;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly config: { readonly leaseMs: number; readonly streamsMs: number; readonly maxFacts: number };
  readonly logger: CoherenceLogger;
  /** Returns a new random string on each call. */
  readonly randomId: () => string;
  readonly events?: CoherenceEvents;
  /** Details about this replica for operators. */
  readonly about?: ReplicaNote;
  /** Overrides the durations derived from `config`, to simulate replicas of other versions. */
  readonly timing?: Timing;
}

/** The part of a pino logger that coherence uses. */
export interface CoherenceLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface Coherence {
  readonly directory: Directory;
  readonly barrier: Barrier;
  /** A clock that combines the store's wall time, which governs all expiry, with this machine's monotonic time. */
  readonly clock: Clock;
  /** Whether this replica may decide right now. */
  ready(): boolean;
  snapshot(): CoherenceSnapshot;
  /**
   * Tells operators that this replica is about to shut down. The replica keeps deciding until {@link Coherence.stop}.
   */
  leave(): void;
  /** Stops deciding and deregisters, so that no writer waits for this replica. */
  stop(): Promise<void>;
}

/** This replica's state for operators, along with the registered replicas as last read. */
export interface CoherenceSnapshot {
  readonly replica: string;
  readonly incarnation: string | null;
  /** Log position up to which this replica has applied every change. */
  readonly applied: Seq;
  /** Log position through which this replica has read; `null` before the first read, also after it began anew. */
  readonly readThrough: Seq | null;
  /** Milliseconds since this replica began its latest reading of the log; infinite before the first one. */
  readonly readAgeMs: number;
  /** How many more milliseconds this replica may decide without the store; negative if the lease has run out. */
  readonly leaseRemainingMs: number;
  /** Number of facts that decisions may use. */
  readonly facts: number;
  /** Milliseconds by which this machine's wall clock is ahead of the store's; `null` before the first renewal. */
  readonly clockAheadMs: number | null;
  /** Milliseconds since the oldest fact in memory was read; 0 if memory holds no facts. */
  readonly oldestFactMs: number;
  readonly unknownKeys: number;
  /** Number of facts whose latest change is remembered. */
  readonly recentChanges: number;
  readonly replicas: readonly {
    readonly id: string;
    readonly acked: Seq;
    readonly leaseMs: number;
    readonly self: boolean;
  }[];
}

/** Maximum number of absent keys to remember, as a fraction of `maxFacts`. */
const unknownKeysShare = 1 / 16;

/** Maximum number of facts named in one log line. */
const mostNamed = 10;

/**
 * Returns the part of a fact's name that is safe to log: its kind and account, but never an `external_id` or a key
 * digest.
 */
function ownerOf(key: FactKey): string {
  return key.startsWith('k:') ? 'k' : key.split(':', 2).join(':');
}

/**
 * Returns the listeners in `events`, extended to log two warnings: that this machine's clock is off, and that facts in
 * memory differed from the store's.
 */
function reporting({ logger, events }: CoherenceParts, storeClock: StoreClock): CoherenceEvents {
  const warnOfClock = clockWarnings((fields, message) => logger.warn(fields, message));
  return {
    ...events,
    leaseRenewed: (ms) => {
      warnOfClock(storeClock.aheadMs ?? 0);
      events?.leaseRenewed?.(ms);
    },
    factsDiffered: (keys) => {
      logger.warn({ facts: [...keys].slice(0, mostNamed).map(ownerOf) }, 'facts differed and were replaced');
      events?.factsDiffered?.(keys);
    },
  };
}

function reportHealth(logger: CoherenceParts['logger']): (error: unknown) => void {
  return (error) => {
    if (error === undefined) logger.info({}, 'the coherence lease is renewed again');
    else logger.warn({ err: error }, 'the coherence lease cannot be renewed: decisions stop when it ends');
  };
}

/** Starts a replica, which becomes ready on its own once the store has responded. */
export function startCoherence(parts: CoherenceParts): Coherence {
  const { log, source, cache, clock, timers, config, logger, randomId, about } = parts;
  const storeClock = new StoreClock(clock);
  const events = reporting(parts, storeClock);
  const timing = parts.timing ?? timingFor(config.leaseMs, config.streamsMs);
  const view = new View({
    facts: config.maxFacts,
    unknownKeys: Math.ceil(config.maxFacts * unknownKeysShare),
  });
  const revocations = new Revocations();
  const lease = new Lease({
    ...{ log, view, revocations, about, forget: (keys) => cache.forget?.(keys) },
    ...{ clock, storeClock, timers, timing },
    paceMs: () => passPaceMs(membership.last?.rows.length ?? 0),
    events,
    randomId,
    onHealth: reportHealth(logger),
    onBegunAnew: () => proofs.wake(),
  });
  const membership = new Membership(log, clock, timing);
  const loader = new Loader({ view, cache, source, clock, timers, timing, events });
  const proofs = new Proofs({ view, loader, clock, timers, timing });

  log.onHint(() => lease.hint());
  lease.start();
  const stopWatching = repeat(timers, timing.leaseMs, () => membership.read());
  const stopPruning = keepLogShort({ log, view, timers });

  return {
    directory: new CoherentDirectory({ view, lease, loader, revocations, clock, timing, events }),
    barrier: new CommitBarrier({ membership, lease, view, clock, timers, timing, events }),
    clock: storeClock,
    ready: () => lease.holds(),
    snapshot: () => ({
      replica: lease.id,
      incarnation: view.incarnation,
      applied: view.applied,
      readThrough: view.through,
      readAgeMs: clock.monotonicMs() - lease.readMs,
      leaseRemainingMs: lease.remainingMs,
      ...view.sizes,
      clockAheadMs: storeClock.aheadMs,
      oldestFactMs: view.oldestS === undefined ? 0 : clock.monotonicMs() - view.oldestS * 1_000,
      replicas: (membership.last?.rows ?? []).map(({ id, acked, leaseMs }) => ({
        id,
        acked,
        leaseMs,
        self: id === lease.id,
      })),
    }),
    leave: () => lease.leave(),
    stop: async () => {
      stopWatching();
      stopPruning();
      proofs.stop();
      await lease.stop();
    },
  };
}
