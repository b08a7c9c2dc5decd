/** A seeded run of replicas, writers and faults in virtual time, and what its history shows. */
import type { Coherence } from '../../../src/coherence/coherence.ts';
import type { Evaluate } from '../../../src/ports/directory.ts';
import { FaultInjector, noFaults } from './fault-injector.ts';
import { ModelCache } from './model-cache.ts';
import { ModelStore } from './model-store.ts';
import { RevocationHistory } from './open-streams.ts';
import { usualLeaseMs, type Outcome, type Plan } from './plan.ts';
import { Random } from './random.ts';
import { SimulatedReplicas } from './simulated-replicas.ts';
import { findStale, type Observation } from './staleness.ts';
import { allFacts, readTenant, readUnknownKey, tenantCount } from './tenant-facts.ts';
import { World } from './world.ts';
import { Writers } from './writers.ts';

export async function simulate(plan: Plan): Promise<Outcome> {
  const simulation = new Simulation(plan);
  return simulation.run();
}

class Simulation {
  readonly #plan: Plan;
  readonly #random: Random;
  readonly #world: World;
  readonly #store: ModelStore;
  readonly #replicas: SimulatedReplicas;
  readonly #writers: Writers;
  readonly #faults: FaultInjector;
  readonly #observations: Observation[] = [];
  /** Nothing goes wrong in the last part of a run; what was wrong must be over after half of it. */
  readonly #calmMs: number;
  #rejections = 0;
  #withoutResponse = 0;
  #unrecovered = 0;

  constructor(plan: Plan) {
    const { mutation = {}, leases = [usualLeaseMs] } = plan;
    const faults = { ...noFaults, ...plan.faults };
    const longestMs = Math.max(...leases);
    this.#plan = plan;
    this.#calmMs = Math.max(3_000, 6 * longestMs);
    this.#random = new Random(plan.seed);
    const world = (this.#world = new World(this.#random, plan.clockError ?? 0.1));
    const facts = new Map(allFacts.map((key, i) => [key, i + 1]));
    const store = (this.#store = new ModelStore(world, faults, facts));
    const cache = new ModelCache(world);
    const revocations = new RevocationHistory();
    const replicas = (this.#replicas = new SimulatedReplicas({
      ...{ world, store, cache, mutation, leases, revocations },
      onRenewed: (process) => this.#faults.renewed(process, this.#calm),
    }));
    const onWithoutResponse = (): void => this.#noteWithoutResponse();
    this.#writers = new Writers({ world, store, replicas, mutation, revocations, onWithoutResponse }, facts);
    this.#faults = new FaultInjector({
      ...{ faults, world, store, cache, replicas },
      longestFaultMs: Math.max(3 * usualLeaseMs, 1.5 * longestMs),
      onRestored: () => this.#writers.noteRestore(),
      writeByHand: () => this.#writers.writeByHand(),
    });
  }

  async run(): Promise<Outcome> {
    this.#replicas.start();
    this.#every(1.5, () => this.#decide());
    this.#every(3, () => this.#pass());
    this.#every(8, () => this.#writers.write());
    this.#every(10, () => this.#injectFaults());
    await this.#world.runUntil(this.#plan.virtualMs);
    return {
      stale: findStale(this.#writers.changes, this.#observations),
      outlived: this.#replicas.outlived,
      passedLate: this.#replicas.passedLate,
      restarts: this.#replicas.restarts,
      differed: this.#replicas.differed,
      decisions: this.#observations.length,
      rejections: this.#rejections,
      mutations: this.#writers.mutations,
      withoutResponse: this.#withoutResponse,
      unrecovered: this.#unrecovered,
    };
  }

  get #calm(): boolean {
    return this.#world.now > this.#plan.virtualMs - this.#calmMs;
  }

  #noteRejected(): void {
    this.#rejections += 1;
    this.#noteLate();
  }

  #noteWithoutResponse(): void {
    this.#withoutResponse += 1;
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

  #injectFaults(): void {
    this.#store.smooth = this.#calm;
    if (!this.#calm) this.#faults.inject();
  }

  /** A request of a tenant, or with a key that does not exist. Some leave a stream open. */
  #decide(): void {
    const { process, coherence, streams } = this.#replicas.pick();
    const stays = this.#random.chance(0.1);
    const tenant = this.#random.below(tenantCount);
    const third = this.#random.pick(['count', 'external', 'nothing'] as const);
    if (this.#random.chance(0.05)) {
      const read = readUnknownKey(this.#random.below(50));
      return process.later(1, () => void this.#decided(coherence, read, () => undefined));
    }
    process.later(this.#random.between(0.1, 2), () => {
      const began = this.#world.moment();
      void this.#decided(
        coherence,
        (facts) => readTenant(facts, tenant, third),
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

  /** Something arrives for the streams of a replica; one that stands still takes it when it wakes up. */
  #pass(): void {
    const { process, coherence, streams } = this.#replicas.pick();
    process.later(0, () => streams.pass(coherence));
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
        return this.#noteRejected();
      }
    }
    act(decision);
  }
}
