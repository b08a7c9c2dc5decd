/** Those who change facts in a simulated run, through any replica, and the history of what they did. */
import type { FactKey, FactValue, Seq } from '../../../src/ports/facts.ts';
import type { ModelStore } from './model-store.ts';
import type { RevocationHistory } from './open-streams.ts';
import { proveMs, type ProtocolMutation } from './plan.ts';
import type { SimulatedReplicas } from './simulated-replicas.ts';
import type { Change } from './staleness.ts';
import { allFacts, factsOf, tenantCount } from './tenant-facts.ts';
import type { World } from './world.ts';

export interface WritersOptions {
  readonly world: World;
  readonly store: ModelStore;
  readonly replicas: SimulatedReplicas;
  readonly mutation: ProtocolMutation;
  readonly revocations: RevocationHistory;
  readonly onWithoutResponse: () => void;
}

type Intent = 'no-op' | 'vanish' | 'change';

export class Writers {
  readonly changes: Change[];
  /** How many mutations were sent. */
  mutations = 0;
  readonly #options: WritersOptions;
  /** Values are numbers that grow. */
  #versions: number;

  /** @param facts what the store began with: each value is a number that no other has */
  constructor(options: WritersOptions, facts: ReadonlyMap<FactKey, FactValue>) {
    this.#options = options;
    this.#versions = facts.size;
    this.changes = [...facts].map(([object, value]) => ({ object, value, invoked: 0, responded: 0 }));
  }

  /** One change of anything, which may change nothing. */
  write(): void {
    const { store, world } = this.#options;
    const { random } = world;
    const key = random.pick(factsOf(random.below(tenantCount)));
    const noOp = random.chance(0.2);
    const exists = store.fact(key) !== null;
    const vanishes = exists && key.startsWith('x:') && random.chance(0.5);
    this.#send(key, noOp ? 'no-op' : vanishes ? 'vanish' : 'change');
  }

  /** A hand in the database: replicas may decide by what was before until they have read the fact again. */
  writeByHand(): void {
    const { store, world } = this.#options;
    const key = world.random.pick(factsOf(world.random.below(tenantCount)));
    if (store.fact(key) === null) return;
    const value = ++this.#versions;
    store.put(key, value);
    const change: { -readonly [K in keyof Change]: Change[K] } = {
      ...{ object: key, value, invoked: world.moment(), responded: null },
    };
    this.changes.push(change);
    world.at(world.now + 2 * proveMs, () => {
      change.responded = world.moment();
    });
  }

  /** A backup came back: that counts as a change of every fact that no client was told of. */
  noteRestore(): void {
    const { store, world, revocations } = this.#options;
    revocations.restart();
    for (const key of allFacts) {
      const value = store.fact(key) === null ? null : ++this.#versions;
      store.put(key, value);
      this.changes.push({ object: key, value, invoked: world.moment(), responded: null });
    }
  }

  /** One mutation through a replica; where the response does not come, it is tried again elsewhere. */
  #send(key: FactKey, intent: Intent): void {
    const { world, store, replicas, mutation, revocations, onWithoutResponse } = this.#options;
    const { process, coherence } = replicas.pick();
    process.later(world.random.between(0.1, 2), () => {
      this.mutations += 1;
      const invoked = world.moment();
      let change: { -readonly [K in keyof Change]: Change[K] } | undefined;
      const committed = store.call(process, () => {
        const { wait, seq, value } = this.#commit(key, intent);
        change = { object: key, value, invoked, responded: null };
        this.changes.push(change);
        const history = store.incarnation;
        const { historyOfCommits = history } = mutation;
        return { wait, seq, history, incarnation: historyOfCommits };
      });
      committed
        .then(async ({ wait, seq, history, incarnation }) => {
          if (!wait) return;
          await coherence.barrier.enforced(seq, incarnation);
          // Another history has other positions.
          if (store.incarnation === history) revocations.enforce(key, seq);
        })
        .then(() => {
          if (change !== undefined) change.responded = world.moment();
        })
        .catch(() => {
          onWithoutResponse();
          if (world.random.chance(0.7)) this.#send(key, 'no-op');
        });
    });
  }

  #commit(key: FactKey, intent: Intent): { wait: boolean; seq: Seq; value: FactValue } {
    const { store, world, revocations } = this.#options;
    const { skipWait, skipWaitOfNoOps, skipWaitOfCreates } = this.#options.mutation;
    const before = store.fact(key);
    if (intent === 'no-op') {
      return { wait: !(skipWait ?? skipWaitOfNoOps ?? false), seq: store.seq, value: before };
    }
    const value = intent === 'vanish' ? null : ++this.#versions;
    store.put(key, value);
    if (before === null) {
      // No replica holds what did not exist, so it is not logged; but that it vanished may still be on its way.
      const vanished = store.unconfirmed(key);
      return { wait: vanished !== undefined && skipWaitOfCreates !== true, seq: vanished ?? 0, value };
    }
    const revokes = world.random.chance(0.5);
    const seq = store.record(key, revokes);
    if (revokes) revocations.add({ key, seq, olderThan: value ?? this.#versions + 1 });
    return { wait: skipWait !== true, seq, value };
  }
}
