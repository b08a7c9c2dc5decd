/** A shared cache in virtual time that keeps, loses and resurrects what it was given. */
import type { FactCache, StampedFact } from '../../../src/ports/fact-cache.ts';
import type { FactKey } from '../../../src/ports/facts.ts';
import type { Process, World } from './world.ts';

export class ModelCache {
  readonly #world: World;
  #facts = new Map<FactKey, StampedFact>();
  #away = false;

  constructor(world: World) {
    this.#world = world;
  }

  set away(away: boolean) {
    this.#away = away;
  }

  dump(): ReadonlyMap<FactKey, StampedFact> {
    return new Map(this.#facts);
  }

  load(dump: ReadonlyMap<FactKey, StampedFact>): void {
    this.#facts = new Map(dump);
  }

  /** Another program writes to the cache: values as they are, with stamps that the log never reaches. */
  forge(): void {
    for (const [key, fact] of this.#facts) this.#facts.set(key, { ...fact, seq: Number.MAX_SAFE_INTEGER });
  }

  for(process: Process): FactCache {
    const { random } = this.#world;
    return {
      get: (keys) =>
        new Promise((resolve) => {
          const found = new Map<FactKey, StampedFact>();
          const heldUp = process.toCache.delayMs('there') + process.toCache.delayMs('back') > 0;
          for (const key of keys) {
            const fact = this.#away || heldUp ? undefined : this.#facts.get(key);
            if (fact !== undefined) found.set(key, fact);
          }
          process.later(heldUp || random.chance(0.02) ? 50 : random.between(0.1, 1), () => resolve(found));
        }),
      set: (facts) =>
        this.#world.at(
          this.#world.now +
            process.toCache.delayMs('there') +
            random.between(0.1, random.chance(0.05) ? 300 : 2),
          () => {
            if (!this.#away) for (const [key, fact] of facts) this.#facts.set(key, fact);
          },
        ),
    };
  }
}
