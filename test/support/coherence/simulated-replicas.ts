/** The replicas of a simulated run: the real protocol, on simulated processes, against a simulated store and cache. */
import { startCoherence, type Coherence } from '../../../src/coherence/coherence.ts';
import { timingFor } from '../../../src/coherence/timing.ts';
import type { CoherenceLog } from '../../../src/ports/coherence-log.ts';
import type { ModelCache } from './model-cache.ts';
import type { ModelStore } from './model-store.ts';
import { OpenStreams, type RevocationHistory } from './open-streams.ts';
import { proveMs, type ProtocolMutation } from './plan.ts';
import { together } from './tenant-facts.ts';
import { Process, type World } from './world.ts';

/** How many are registered and at work at a time. */
export const replicaCount = 3;

export interface Replica {
  readonly process: Process;
  readonly coherence: Coherence;
  readonly streams: OpenStreams;
}

export interface ReplicasOptions {
  readonly world: World;
  readonly store: ModelStore;
  readonly cache: ModelCache;
  readonly mutation: ProtocolMutation;
  /** Each replica has one of these as its T, milliseconds. */
  readonly leases: readonly number[];
  readonly revocations: RevocationHistory;
  readonly onRenewed: (process: Process) => void;
}

export class SimulatedReplicas {
  /** How often one lost track of the log and began anew. */
  restarts = 0;
  /** Facts that differed from what a replica held, without a change in the log. */
  differed = 0;
  readonly #options: ReplicasOptions;
  readonly #present: Replica[] = [];
  /** Of all replicas, also of those that are gone. */
  readonly #streams: OpenStreams[] = [];
  #names = 0;

  constructor(options: ReplicasOptions) {
    this.#options = options;
  }

  start(): void {
    for (let i = 0; i < replicaCount; i++) this.#present.push(this.#startOne());
  }

  /** Any of those that are present. */
  pick(): Replica {
    return this.#options.world.random.pick(this.#present);
  }

  at(index: number): Replica | undefined {
    return this.#present[index];
  }

  /** Starts another in the place of one that was killed or leaves. */
  replace(index: number): void {
    this.#present[index] = this.#startOne();
  }

  /** Streams that were open though their replica had confirmed what revoked them. */
  get outlived(): number {
    return this.#streams.reduce((sum, { outlived }) => sum + outlived, 0);
  }

  /** Bytes that passed in a stream after the 2xx of what revoked it. */
  get passedLate(): number {
    return this.#streams.reduce((sum, { passedLate }) => sum + passedLate, 0);
  }

  #startOne(): Replica {
    const { world, store, cache, mutation, leases, revocations, onRenewed } = this.#options;
    const process = new Process(world, `replica ${++this.#names}`);
    const leaseMs = world.random.pick(leases);
    const streamsMs = world.random.pick([0, leaseMs]);
    const timing = { ...timingFor(leaseMs, streamsMs), proveMs };
    const streams = new OpenStreams(revocations);
    this.#streams.push(streams);
    const stored = store.logFor(process, timing.storeMs);
    const log: CoherenceLog = {
      ...stored,
      ack: (id, seq, streamsClosed) => {
        if (coherence.snapshot().incarnation === store.incarnation) streams.confirm(seq);
        return stored.ack(id, seq, streamsClosed);
      },
    };
    const source = store.sourceFor(process, timing.storeMs, together);
    const ownCache = cache.for(process);
    const coherence = startCoherence({
      log: mutation.log?.(log, store, process) ?? log,
      source: mutation.source?.(source, store) ?? source,
      cache: mutation.cache?.(ownCache, store) ?? ownCache,
      clock: process.clock,
      timers: process.timers,
      // So small that memory must drop facts all the time.
      config: { leaseMs, streamsMs, maxFacts: 12 },
      timing: mutation.timing?.(timing) ?? timing,
      logger: { info: () => undefined, warn: () => undefined },
      randomId: () => `${process.name}/${++this.#names}`,
      events: {
        leaseRenewed: () => onRenewed(process),
        forgotten: () => void (this.restarts += 1),
        factsDiffered: (keys) => void (this.differed += keys.size),
      },
    });
    streams.follow(coherence);
    return { process, coherence, streams };
  }
}
