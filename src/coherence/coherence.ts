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
import { repeat } from './repeat.ts';
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
  readonly config: { readonly leaseMs: number; readonly maxFacts: number };
  readonly logger: CoherenceLogger;
  /** Fresh random text, never the same again. */
  readonly randomId: () => string;
  readonly events?: CoherenceEvents;
  /** What operators are told of this replica. */
  readonly about?: ReplicaNote;
  /** Other durations than those of `config`, for simulations of other versions. */
  readonly timing?: Timing;
}

/** The part of a pino logger that is used. */
export interface CoherenceLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface Coherence {
  readonly directory: Directory;
  readonly barrier: Barrier;
  /** The store's clock, by which everything expires; the monotonic one is this machine's. */
  readonly clock: Clock;
  /** Whether this replica may decide right now. */
  ready(): boolean;
  snapshot(): CoherenceSnapshot;
  /** Tells operators that this replica is about to end; it decides as before. */
  leave(): void;
  /** Stops deciding and deregisters, so that no writer waits for this replica. */
  stop(): Promise<void>;
}

/** What operators see of this replica, and of the others as it last counted them. */
export interface CoherenceSnapshot {
  readonly replica: string;
  readonly incarnation: string | null;
  /** Position in the log that this replica decides by. */
  readonly applied: Seq;
  /** Milliseconds it may go on deciding without the store; negative once it may not. */
  readonly leaseRemainingMs: number;
  /** Facts that may decide. */
  readonly facts: number;
  /** By how much this machine's wall clock is ahead of the store's; `null` before the first renewal. */
  readonly clockAheadMs: number | null;
  /** Milliseconds since the fact was read that was read longest ago; 0 where there is none. */
  readonly oldestFactMs: number;
  readonly unknownKeys: number;
  /** Facts whose newest change is remembered. */
  readonly recentChanges: number;
  readonly replicas: readonly {
    readonly id: string;
    readonly acked: Seq;
    readonly leaseMs: number;
    readonly self: boolean;
  }[];
}

/** The share of the facts held in memory that is set aside for keys that do not exist. */
const unknownKeysShare = 1 / 16;

/** Facts that a line of the log names. */
const mostNamed = 10;

/** What the log may say of a fact: its kind and whose it is, but neither an `external_id` nor the digest of a key. */
function ownerOf(key: FactKey): string {
  return key.startsWith('k:') ? 'k' : key.split(':', 2).join(':');
}

/** Starts a replica. It is not ready yet when this returns, and becomes so by itself once the store responds. */
export function startCoherence(parts: CoherenceParts): Coherence {
  const { log, source, cache, clock, timers, config, logger, randomId, about } = parts;
  const storeClock = new StoreClock(clock);
  const warnOfClock = clockWarnings((fields, message) => logger.warn(fields, message));
  const events: CoherenceEvents = {
    ...parts.events,
    leaseRenewed: (ms) => {
      warnOfClock(storeClock.aheadMs ?? 0);
      parts.events?.leaseRenewed?.(ms);
    },
    factsDiffered: (keys) => {
      logger.warn({ facts: [...keys].slice(0, mostNamed).map(ownerOf) }, 'facts differed and were replaced');
      parts.events?.factsDiffered?.(keys);
    },
  };
  const timing = parts.timing ?? timingFor(config.leaseMs);
  const view = new View({
    facts: config.maxFacts,
    unknownKeys: Math.ceil(config.maxFacts * unknownKeysShare),
  });
  const revocations = new Revocations();
  const onHealth = (error: unknown): void => {
    if (error === undefined) logger.info({}, 'the coherence lease is renewed again');
    else logger.warn({ err: error }, 'the coherence lease cannot be renewed: decisions stop when it ends');
  };
  const lease = new Lease({
    log,
    view,
    revocations,
    clock,
    storeClock,
    timers,
    timing,
    paceMs: () => passPaceMs(membership.last?.rows.length ?? 0),
    events,
    randomId,
    onHealth,
    onBegunAnew: () => proofs.wake(),
    about,
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
