/** The machine that the store runs on, in virtual time, and the network between it and the replicas. */
import { Process, type World } from './world.ts';

/** How often things go wrong on the way. */
export interface Network {
  /** Probability that a message is lost, and its connection with it. */
  readonly loss: number;
  readonly slow: number;
}

export class ModelServer {
  readonly #world: World;
  readonly #network: Network;
  readonly #hints: { readonly process: Process; readonly listener: () => void }[] = [];
  #process: Process;
  /** Whether every message arrives, and soon. */
  smooth = false;

  constructor(world: World, network: Network) {
    this.#world = world;
    this.#network = network;
    this.#process = new Process(world, 'store');
  }

  pause(ms: number): void {
    this.#process.pause(ms);
  }

  /** Killed and started again: every connection gets an error. */
  restart(ms: number): void {
    this.#process.kill();
    this.#process = new Process(this.#world, 'store');
    this.#process.pause(ms);
  }

  /** One round trip of `process`: `work` runs at one moment on the server. */
  call<T>(process: Process, work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const server = this.#process;
      const fail = (): void => process.later(this.#latency(), () => reject(new Error('connection lost')));
      if (this.#lost()) return fail();
      const wait = this.#latency() + process.toStore.delayMs('there');
      this.#world.at(this.#world.now + wait, () => {
        if (!server.alive) fail();
      });
      server.later(wait, () => {
        const response = work();
        if (this.#lost()) fail();
        else process.later(this.#latency() + process.toStore.delayMs('back'), () => resolve(response));
      });
    });
  }

  onHint(process: Process, listener: () => void): void {
    this.#hints.push({ process, listener });
  }

  /** Tells every process that listens of a change; messages may be lost. */
  hint(): void {
    for (const { process, listener } of this.#hints) {
      if (!this.#lost()) process.later(this.#latency() + process.toStore.delayMs('back'), listener);
    }
  }

  #lost(): boolean {
    return !this.smooth && this.#world.random.chance(this.#network.loss);
  }

  #latency(): number {
    const { random } = this.#world;
    return !this.smooth && random.chance(this.#network.slow)
      ? random.between(5, 200)
      : random.between(0.2, 2);
  }
}
