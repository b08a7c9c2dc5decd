/** What a simulated run is asked for, and what comes of it. */
import type { CoherenceLog } from '../../../src/ports/coherence-log.ts';
import type { FactCache } from '../../../src/ports/fact-cache.ts';
import type { FactSource } from '../../../src/ports/facts.ts';
import type { Timing } from '../../../src/coherence/timing.ts';
import type { ModelStore } from './model-store.ts';
import type { Stale } from './staleness.ts';
import type { Process } from './world.ts';

/** Probability of each fault in any 10 ms of virtual time. */
export interface Faults {
  readonly pause: number;
  /** A machine stands still: its wall clock is set right when it wakes up. */
  readonly freeze: number;
  /** The same, and no clock ever shows it. */
  readonly freezeUnseen: number;
  readonly kill: number;
  readonly deregister: number;
  /** A replica is cut off from the store or the cache, for what it sends, for what it is sent, or both. */
  readonly partition: number;
  readonly storePause: number;
  readonly storeRestart: number;
  readonly restore: number;
  readonly dropRow: number;
  readonly cacheFlush: number;
  readonly cacheResurrect: number;
  /** Values in the shared cache get stamps that the log never reaches. */
  readonly cacheForge: number;
  readonly prune: number;
  /** A fact is changed by a hand in the database, so that the log tells nothing of it. */
  readonly hand: number;
  /** The database's clock is set forward by hours. */
  readonly clockJump: number;
  /** Of one message. */
  readonly loss: number;
  readonly slow: number;
}

/** Ways to take one part of the protocol out, to see that the checker notices. */
export interface ProtocolMutation {
  log?(log: CoherenceLog, store: ModelStore, process: Process): CoherenceLog;
  source?(source: FactSource, store: ModelStore): FactSource;
  timing?(timing: Timing): Timing;
  cache?(cache: FactCache, store: ModelStore): FactCache;
  /** What commits name as the history they belong to, in place of the true one. */
  readonly historyOfCommits?: string;
  /** Where it shows; elsewhere it may do no harm. */
  readonly circumstances?: Partial<Plan>;
  readonly skipWait?: boolean;
  readonly skipWaitOfNoOps?: boolean;
  readonly skipWaitOfCreates?: boolean;
}

export interface Outcome {
  readonly stale: readonly Stale[];
  /** Streams that were open though their replica had confirmed what revoked them. */
  readonly outlived: number;
  /** Bytes that passed in a stream after the 2xx of what revoked it. */
  readonly passedLate: number;
  /** How often a replica lost track of the log and began anew. */
  readonly restarts: number;
  /** Facts that differed from what a replica held, without a change in the log. */
  readonly differed: number;
  readonly decisions: number;
  readonly rejections: number;
  readonly mutations: number;
  readonly withoutResponse: number;
  /** Rejections and mutations without a response after the faults had ended for a while: there should be none. */
  readonly unrecovered: number;
}

export interface Plan {
  readonly seed: number;
  readonly virtualMs: number;
  readonly faults: Partial<Faults>;
  readonly mutation?: ProtocolMutation;
  /** How wrong clocks may be, as a share (0.1): each replica and the store have clocks of their own. */
  readonly clockError?: number;
  /** Each replica has one of these as its T, milliseconds. */
  readonly leases?: readonly number[];
}

/** Every fact in memory is read again within this time, in virtual milliseconds. */
export const proveMs = 500;

/** T where a run does not say, milliseconds. */
export const usualLeaseMs = 300;
