/** What goes wrong in a simulated run: in replicas, in the store, in the shared cache and between them. */
import type { ModelCache } from './model-cache.ts';
import type { ModelStore } from './model-store.ts';
import { usualLeaseMs, type Faults } from './plan.ts';
import { replicaCount, type SimulatedReplicas } from './simulated-replicas.ts';
import type { Process, World } from './world.ts';

/** The probabilities where a run does not say. */
export const noFaults: Faults = {
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
  hand: 0,
  clockJump: 0,
  loss: 0,
  slow: 0.02,
};

export interface FaultsOptions {
  readonly faults: Faults;
  readonly world: World;
  readonly store: ModelStore;
  readonly cache: ModelCache;
  readonly replicas: SimulatedReplicas;
  /** A fault of a replica lasts up to this long. */
  readonly longestFaultMs: number;
  /** After a backup was brought back. */
  readonly onRestored: () => void;
  readonly writeByHand: () => void;
}

export class FaultInjector {
  readonly #options: FaultsOptions;
  /** Replicas that are cut off as soon as they have renewed their lease. */
  readonly #cutWhenRenewed = new Map<Process, () => void>();
  #backup: ReturnType<ModelStore['backup']>;
  #dump: ReturnType<ModelCache['dump']>;

  constructor(options: FaultsOptions) {
    this.#options = options;
    this.#backup = options.store.backup();
    this.#dump = options.cache.dump();
  }

  /** To be called every 10 ms: any of the faults may begin. */
  inject(): void {
    this.#faultInReplica(this.#options.world.random.below(replicaCount));
    this.#faultInStore();
    this.#faultInCache();
  }

  /** A replica has renewed its lease. @param calm whether nothing goes wrong any more */
  renewed(process: Process, calm: boolean): void {
    if (!calm) this.#cutWhenRenewed.get(process)?.();
    this.#cutWhenRenewed.delete(process);
  }

  #faultInReplica(index: number): void {
    const { faults, world, replicas, longestFaultMs } = this.#options;
    const { random } = world;
    const replica = replicas.at(index);
    if (replica === undefined) return;
    const { process, coherence } = replica;
    const ms = random.between(1, longestFaultMs);
    if (random.chance(faults.pause)) process.pause(ms);
    if (!process.paused) {
      if (random.chance(faults.freeze)) process.freeze(ms, true);
      else if (random.chance(faults.freezeUnseen)) process.freeze(ms, false);
    }
    if (random.chance(faults.partition)) this.#cutOff(process, ms);
    if (random.chance(faults.kill)) {
      process.kill();
      replicas.replace(index);
    } else if (random.chance(faults.deregister) && !process.paused) {
      void coherence.stop().then(() => process.kill());
      replicas.replace(index);
    }
  }

  /** Half of the time right after it has renewed its lease: then others have to wait longest. */
  #cutOff(process: Process, ms: number): void {
    const { random } = this.#options.world;
    const { toStore, toCache } = process;
    const ways = random.pick([[toStore], [toStore], [toCache], [toStore, toCache]]);
    const directions = random.pick([['there'], ['back'], ['there', 'back']] as const);
    const cut = (): void => {
      for (const way of ways) for (const direction of directions) way.holdUp(direction, ms);
    };
    if (random.chance(0.5)) cut();
    else this.#cutWhenRenewed.set(process, cut);
  }

  #faultInStore(): void {
    const { faults, world, store, onRestored, writeByHand } = this.#options;
    const { random } = world;
    if (random.chance(faults.storePause)) store.pause(random.between(1, 2 * usualLeaseMs));
    if (random.chance(faults.storeRestart)) store.restart(random.between(1, usualLeaseMs));
    if (random.chance(faults.dropRow)) store.dropRow(random.pick([...store.replicaIds, '']));
    if (random.chance(faults.prune)) store.pruneOlder(random.between(1.2, 3) * usualLeaseMs);
    if (random.chance(faults.hand)) writeByHand();
    if (random.chance(faults.clockJump)) store.setClockForward(random.between(1, 5) * 3_600_000);
    if (random.chance(0.02)) this.#backup = store.backup();
    if (random.chance(faults.restore)) {
      store.restore(this.#backup, { withRows: random.chance(0.5) });
      onRestored();
    }
  }

  #faultInCache(): void {
    const { faults, world, cache } = this.#options;
    const { random } = world;
    if (random.chance(faults.cacheFlush)) cache.load(new Map());
    if (random.chance(faults.cacheResurrect)) cache.load(this.#dump);
    if (random.chance(faults.cacheForge)) cache.forge();
    if (random.chance(0.02)) this.#dump = cache.dump();
    cache.away = world.now % 1_000 > 900;
  }
}
