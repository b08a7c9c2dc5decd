/** A seeded run of replicas, writers and faults in virtual time, and what its history shows. */
import { startCoherence, type Coherence } from '../../../src/coherence/coherence.ts';
import { MissingFact, type Evaluate, type Facts } from '../../../src/ports/directory.ts';
import {
  factKey,
  type ApiKeyName,
  type FactKey,
  type FactSource,
  type FactValue,
  type Seq,
} from '../../../src/ports/facts.ts';
import type { CoherenceLog } from '../../../src/ports/coherence-log.ts';
import { timingFor, type Timing } from '../../../src/coherence/timing.ts';
import type { FactCache } from '../../../src/ports/fact-cache.ts';
import { digestSecret } from '../../../src/domain/api-key.ts';
import type { AccountId } from '../../../src/domain/ids.ts';
import { ModelCache } from './model-cache.ts';
import { ModelStore } from './model-store.ts';
import { OpenStreams, RevocationHistory } from './open-streams.ts';
import { Random } from './random.ts';
import { findStale, type Change, type Observation, type Stale } from './staleness.ts';
import { Process, World } from './world.ts';

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
  /** The database's clock is set forward by hours. */
  readonly clockJump: number;
  /** Of one message. */
  readonly loss: number;
  readonly slow: number;
}

const noFaults: Faults = {
  pause: 0,
  freeze: 0,
  freezeUnseen: 0,
  kill: 0,
  deregister: 0,
  partition: 0,
  storePause: 0,
  storeRestart: 0,
  restore: 0,
  dropRow: 0,
  cacheFlush: 0,
  cacheResurrect: 0,
  cacheForge: 0,
  prune: 0,
  clockJump: 0,
  loss: 0,
  slow: 0.02,
};

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
  /** How often a replica lost track of the log and began anew. */
  readonly restarts: number;
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

/** T where a run does not say. */
const usualLeaseMs = 300;
const replicaCount = 3;
const groups = 4;
/** The facts of one tenant: a key, its account, the count of what is below it, and an `external_id`. */
const factsOf = (group: number): readonly FactKey[] => [
  keyOf(group),
  accountOf(group),
  countOf(group),
  externalOf(group),
];
const digests = Array.from({ length: groups }, (_, group) => digestSecret(`key of ${group}`));
const digestOf = (group: number) => digests[group] as (typeof digests)[number];
const keyOf = (group: number): ApiKeyName => factKey.key(digestOf(group));
const accountOf = (group: number): FactKey => `a:account-${group}`;
const countOf = (group: number): FactKey => `n:${group}`;
const externalOf = (group: number): FactKey => `x:${group}:id`;

interface Replica {
  process: Process;
  coherence: Coherence;
  streams: OpenStreams;
}

export async function simulate(plan: Plan): Promise<Outcome> {
  const simulation = new Simulation(plan);
  return simulation.run();
}

class Simulation {
  readonly #plan: Plan;
  readonly #faults: Faults;
  readonly #random: Random;
  readonly #world: World;
  readonly #store: ModelStore;
  readonly #cache: ModelCache;
  readonly #replicas: Replica[] = [];
  readonly #changes: Change[] = [];
  readonly #observations: Observation[] = [];
  readonly #leases: readonly number[];
  /** A fault of a replica lasts up to this long. */
  readonly #longestFaultMs: number;
  /** Nothing goes wrong in the last part of a run; what was wrong must be over after half of it. */
  readonly #calmMs: number;
  /** Replicas that are cut off as soon as they have renewed their lease. */
  readonly #cutWhenRenewed = new Map<Process, () => void>();
  #backup: ReturnType<ModelStore['backup']>;
  #dump: ReturnType<ModelCache['dump']>;
  #versions = 0;
  #names = 0;
  #rejections = 0;
  #mutations = 0;
  #withoutResponse = 0;
  #unrecovered = 0;
  #restarts = 0;
  readonly #revocations = new RevocationHistory();
  readonly #streams: OpenStreams[] = [];

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#faults = { ...noFaults, ...plan.faults };
    this.#random = new Random(plan.seed);
    this.#world = new World(this.#random, plan.clockError ?? 0.1);
    this.#leases = plan.leases ?? [usualLeaseMs];
    const longestMs = Math.max(...this.#leases);
    this.#longestFaultMs = Math.max(3 * usualLeaseMs, 1.5 * longestMs);
    this.#calmMs = Math.max(3_000, 6 * longestMs);
    const facts = new Map<FactKey, FactValue>();
    for (let group = 0; group < groups; group++) {
      for (const key of factsOf(group)) facts.set(key, ++this.#versions);
    }
    this.#store = new ModelStore(this.#world, this.#faults, facts);
    this.#cache = new ModelCache(this.#world);
    for (const [object, value] of facts) this.#changes.push({ object, value, invoked: 0, responded: 0 });
    this.#backup = this.#store.backup();
    this.#dump = this.#cache.dump();
  }

  async run(): Promise<Outcome> {
    for (let i = 0; i < replicaCount; i++) this.#replicas.push(this.#startReplica());
    this.#every(1.5, () => this.#decide());
    this.#every(8, () => this.#mutate());
    this.#every(10, () => this.#injectFaults());
    await this.#world.runUntil(this.#plan.virtualMs);
    return {
      stale: findStale(this.#changes, this.#observations),
      outlived: this.#streams.reduce((sum, { outlived }) => sum + outlived, 0),
      restarts: this.#restarts,
      decisions: this.#observations.length,
      rejections: this.#rejections,
      mutations: this.#mutations,
      withoutResponse: this.#withoutResponse,
      unrecovered: this.#unrecovered,
    };
  }

  get #calm(): boolean {
    return this.#world.now > this.#plan.virtualMs - this.#calmMs;
  }

  #rejected(): void {
    this.#rejections += 1;
    this.#noteLate();
  }

  #noteLate(): void {
    if (this.#world.now > this.#plan.virtualMs - this.#calmMs / 2) this.#unrecovered += 1;
  }

  #every(ms: number, task: () => void): void {
    this.#world.at(this.#world.now + this.#random.between(0, 2 * ms), () => {
      task();
      this.#every(ms, task);
    });
  }

  #startReplica(): Replica {
    const process = new Process(this.#world, `replica ${++this.#names}`);
    const { mutation = {} } = this.#plan;
    const leaseMs = this.#random.pick(this.#leases);
    const timing = timingFor(leaseMs);
    const streams = new OpenStreams(this.#revocations);
    this.#streams.push(streams);
    const stored = this.#store.logFor(process, timing.storeMs);
    const log: CoherenceLog = {
      ...stored,
      ack: (id, seq, streamsClosed) => {
        if (coherence.snapshot().incarnation === this.#store.incarnation) streams.confirm(seq);
        return stored.ack(id, seq, streamsClosed);
      },
    };
    const source = this.#store.sourceFor(process, timing.storeMs, together);
    const cache = this.#cache.for(process);
    const coherence = startCoherence({
      log: mutation.log?.(log, this.#store, process) ?? log,
      source: mutation.source?.(source, this.#store) ?? source,
      cache: mutation.cache?.(cache, this.#store) ?? cache,
      clock: process.clock,
      timers: process.timers,
      // So small that memory must drop facts all the time.
      config: { leaseMs, maxFacts: 12 },
      timing: mutation.timing?.(timing) ?? timing,
      logger: { info: () => undefined, warn: () => undefined },
      randomId: () => `${process.name}/${++this.#names}`,
      events: {
        leaseRenewed: () => this.#onRenewed(process),
        forgotten: () => void (this.#restarts += 1),
      },
    });
    streams.follow(coherence);
    return { process, coherence, streams };
  }

  /** A request: it reads a key, the key's account, and one fact more, as real decisions do. */
  #decide(): void {
    const { process, coherence, streams } = this.#random.pick(this.#replicas);
    const stays = this.#random.chance(0.1);
    const group = this.#random.below(groups);
    const third = this.#random.pick(['count', 'external', 'nothing'] as const);
    if (this.#random.chance(0.05)) return this.#decideUnknownKey(process, coherence);
    process.later(this.#random.between(0.1, 2), () => {
      const began = this.#world.moment();
      void this.#decided(
        coherence,
        (facts) => readGroup(facts, group, third),
        (seen) => {
          const ended = this.#world.moment();
          if (stays) streams.open(seen);
          for (const [object, value] of seen) {
            this.#observations.push({ object, value, began, ended, by: process.name });
          }
        },
      );
    });
  }

  #decideUnknownKey(process: Process, coherence: Coherence): void {
    const digest = digestSecret(`unknown ${this.#random.below(50)}`);
    process.later(1, () => {
      void this.#decided(
        coherence,
        (facts) => (facts.key(digest) === undefined ? new MissingFact(factKey.key(digest)) : true),
        () => undefined,
      );
    });
  }

  /** Decides as an exchange does: `act` runs in the tick of the decision. */
  async #decided<T>(
    { directory }: Coherence,
    evaluate: Evaluate<T>,
    act: (decision: T) => void,
  ): Promise<void> {
    let decision = directory.decide(evaluate);
    if (decision === undefined) {
      const lookup = directory.lookUp();
      try {
        while ((decision = lookup.decide(evaluate)) === undefined) await lookup.load();
      } catch {
        return this.#rejected();
      }
    }
    act(decision);
  }

  #mutate(): void {
    const key = this.#random.pick(factsOf(this.#random.below(groups)));
    const noOp = this.#random.chance(0.2);
    const exists = this.#store.fact(key) !== null;
    const vanishes = exists && key.startsWith('x:') && this.#random.chance(0.5);
    this.#write(key, () => (noOp ? 'no-op' : vanishes ? 'vanish' : 'change'));
  }

  /** One mutation through a replica; where the response does not come, it is tried again elsewhere. */
  #write(key: FactKey, intent: () => 'no-op' | 'vanish' | 'change'): void {
    const { process, coherence } = this.#random.pick(this.#replicas);
    process.later(this.#random.between(0.1, 2), () => {
      this.#mutations += 1;
      const invoked = this.#world.moment();
      let change: { -readonly [K in keyof Change]: Change[K] } | undefined;
      const committed = this.#store.call(process, () => {
        const kind = intent();
        const { wait, seq, value } = this.#commit(key, kind);
        change = { object: key, value, invoked, responded: null };
        this.#changes.push(change);
        const { historyOfCommits = this.#store.incarnation } = this.#plan.mutation ?? {};
        return { wait, seq, incarnation: historyOfCommits };
      });
      committed
        .then(({ wait, seq, incarnation }) =>
          wait ? coherence.barrier.enforced(seq, incarnation) : undefined,
        )
        .then(() => {
          if (change !== undefined) change.responded = this.#world.moment();
        })
        .catch(() => {
          this.#withoutResponse += 1;
          this.#noteLate();
          if (this.#random.chance(0.7)) this.#write(key, () => 'no-op');
        });
    });
  }

  #commit(key: FactKey, kind: 'no-op' | 'vanish' | 'change'): { wait: boolean; seq: Seq; value: FactValue } {
    const { skipWait, skipWaitOfNoOps, skipWaitOfCreates } = this.#plan.mutation ?? {};
    const before = this.#store.fact(key);
    if (kind === 'no-op') {
      return { wait: !(skipWait ?? skipWaitOfNoOps ?? false), seq: this.#store.seq, value: before };
    }
    const value = kind === 'vanish' ? null : ++this.#versions;
    this.#store.put(key, value);
    if (before === null) {
      // No replica holds what did not exist, so it is not logged; but that it vanished may still be on its way.
      const vanished = this.#store.unconfirmed(key);
      return { wait: vanished !== undefined && skipWaitOfCreates !== true, seq: vanished ?? 0, value };
    }
    const revokes = this.#random.chance(0.5);
    const seq = this.#store.record(key, revokes);
    if (revokes) this.#revocations.add({ key, seq, olderThan: value ?? this.#versions + 1 });
    return { wait: skipWait !== true, seq, value };
  }

  #injectFaults(): void {
    this.#store.smooth = this.#calm;
    if (this.#calm) return;
    this.#faultInReplica(this.#random.below(replicaCount));
    this.#faultInStore();
    this.#faultInCache();
  }

  #faultInReplica(index: number): void {
    const random = this.#random;
    const faults = this.#faults;
    const replica = this.#replicas[index];
    if (replica === undefined) return;
    const { process, coherence } = replica;
    const ms = random.between(1, this.#longestFaultMs);
    if (random.chance(faults.pause)) process.pause(ms);
    if (!process.paused) {
      if (random.chance(faults.freeze)) process.freeze(ms, true);
      else if (random.chance(faults.freezeUnseen)) process.freeze(ms, false);
    }
    if (random.chance(faults.partition)) this.#cutOff(process, ms);
    if (random.chance(faults.kill)) {
      process.kill();
      this.#replicas[index] = this.#startReplica();
    } else if (random.chance(faults.deregister) && !process.paused) {
      void coherence.stop().then(() => process.kill());
      this.#replicas[index] = this.#startReplica();
    }
  }

  /** Half of the time right after it has renewed its lease: then others have to wait longest. */
  #cutOff(process: Process, ms: number): void {
    const { toStore, toCache } = process;
    const ways = this.#random.pick([[toStore], [toStore], [toCache], [toStore, toCache]]);
    const directions = this.#random.pick([['there'], ['back'], ['there', 'back']] as const);
    const cut = (): void => {
      for (const way of ways) for (const direction of directions) way.holdUp(direction, ms);
    };
    if (this.#random.chance(0.5)) cut();
    else this.#cutWhenRenewed.set(process, cut);
  }

  #onRenewed(process: Process): void {
    if (!this.#calm) this.#cutWhenRenewed.get(process)?.();
    this.#cutWhenRenewed.delete(process);
  }

  #faultInStore(): void {
    const store = this.#store;
    const random = this.#random;
    const faults = this.#faults;
    if (random.chance(faults.storePause)) store.pause(random.between(1, 2 * usualLeaseMs));
    if (random.chance(faults.storeRestart)) store.restart(random.between(1, usualLeaseMs));
    if (random.chance(faults.dropRow)) store.dropRow(random.pick([...store.replicaIds, '']));
    if (random.chance(faults.prune)) store.pruneOlder(random.between(1.2, 3) * usualLeaseMs);
    if (random.chance(faults.clockJump)) store.setClockForward(random.between(1, 5) * 3_600_000);
    if (random.chance(0.02)) this.#backup = store.backup();
    if (random.chance(faults.restore)) this.#restore();
  }

  #faultInCache(): void {
    const cache = this.#cache;
    const random = this.#random;
    const faults = this.#faults;
    if (random.chance(faults.cacheFlush)) cache.load(new Map());
    if (random.chance(faults.cacheResurrect)) cache.load(this.#dump);
    if (random.chance(faults.cacheForge)) cache.forge();
    if (random.chance(0.02)) this.#dump = cache.dump();
    cache.away = this.#world.now % 1_000 > 900;
  }

  /** A backup comes back. What it brings counts as a change of every fact that no client was told of. */
  #restore(): void {
    this.#revocations.restart();
    this.#store.restore(this.#backup, { withRows: this.#random.chance(0.5) });
    for (const key of Array.from({ length: groups }, (_, group) => factsOf(group)).flat()) {
      const value = this.#store.fact(key) === null ? null : ++this.#versions;
      this.#store.put(key, value);
      this.#changes.push({ object: key, value, invoked: this.#world.moment(), responded: null });
    }
  }
}

/** What one statement reads together: a key's account and count come with the key. */
function together(key: FactKey): readonly FactKey[] {
  const group = digests.findIndex((_, i) => keyOf(i) === key);
  return group < 0 ? [key] : [key, accountOf(group), countOf(group)];
}

function readGroup(
  facts: Facts,
  group: number,
  third: 'count' | 'external' | 'nothing',
): [FactKey, unknown][] | MissingFact {
  const key = facts.key(digestOf(group));
  if (key === undefined) return new MissingFact(keyOf(group));
  const account = facts.account(`account-${group}` as AccountId);
  if (account === undefined) return new MissingFact(accountOf(group));
  const seen: [FactKey, unknown][] = [
    [keyOf(group), key],
    [accountOf(group), account],
  ];
  if (third === 'nothing') return seen;
  const parent = String(group) as AccountId;
  const last =
    third === 'count' ? facts.activeSubAccounts(parent) : facts.subAccountByExternalId(parent, 'id');
  const name = third === 'count' ? countOf(group) : externalOf(group);
  return last === undefined ? new MissingFact(name) : [...seen, [name, last]];
}
