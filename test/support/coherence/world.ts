/** Virtual time: a queue of events, run one after another, each to the end of all promises it settles. */
import type { Clock } from '../../../src/ports/clock.ts';
import type { Timers } from '../../../src/ports/timers.ts';
import { everythingThatFollows } from './manual-time.ts';
import type { Random } from './random.ts';

interface Happening {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

export class World {
  readonly random: Random;
  /** How wrong a clock may be, as a share of the time that passes. */
  readonly clockError: number;
  #now = 0;
  #order = 0;
  /** A heap: parents before children. */
  readonly #queue: Happening[] = [];

  constructor(random: Random, clockError: number) {
    this.random = random;
    this.clockError = clockError;
  }

  /** Milliseconds of virtual time. */
  get now(): number {
    return this.#now;
  }

  /** A moment that no other moment equals, for histories. */
  moment(): number {
    return ++this.#order;
  }

  at(at: number, run: () => void): void {
    push(this.#queue, { at: Math.max(at, this.#now), order: ++this.#order, run });
  }

  async runUntil(end: number): Promise<void> {
    for (let next = this.#queue[0]; next !== undefined && next.at <= end; next = this.#queue[0]) {
      pop(this.#queue);
      this.#now = next.at;
      next.run();
      await everythingThatFollows();
    }
    this.#now = end;
  }
}

/** What goes to and fro between a process and a server. In each direction it may be held up. */
export class Way {
  readonly #world: World;
  readonly #heldUpUntil = { there: 0, back: 0 };

  constructor(world: World) {
    this.#world = world;
  }

  /** For `ms` nothing arrives; then everything does, with the connection that it is on. */
  holdUp(direction: 'there' | 'back', ms: number): void {
    this.#heldUpUntil[direction] = Math.max(this.#heldUpUntil[direction], this.#world.now + ms);
  }

  /** How much longer than usual what is sent now is under way, milliseconds. */
  delayMs(direction: 'there' | 'back'): number {
    return Math.max(0, this.#heldUpUntil[direction] - this.#world.now);
  }
}

/** Most clocks are as wrong as they may be. */
export function rateOfAClock({ random, clockError }: World): number {
  if (random.chance(0.2)) return random.between(1 - clockError, 1 + clockError);
  return random.pick([1 - clockError, 1 + clockError]);
}

/** Something that runs code: it can be frozen and killed, and has clocks of its own. */
export class Process {
  readonly name: string;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly toStore: Way;
  readonly toCache: Way;
  readonly #world: World;
  /** Of all its clocks, to the time that really passes. */
  readonly #rate: number;
  #pausedUntil = 0;
  #alive = true;
  /** Time that the monotonic clock did not count, because the machine stood still. */
  #uncounted = 0;
  #wallUncounted = 0;

  constructor(world: World, name: string) {
    this.name = name;
    this.#world = world;
    this.toStore = new Way(world);
    this.toCache = new Way(world);
    this.#rate = rateOfAClock(world);
    const start = world.random.between(0, 1e6);
    this.clock = {
      monotonicMs: () => start + (world.now - this.#uncounted) * this.#rate,
      wallMs: () => 1.7e12 + (world.now - this.#wallUncounted) * this.#rate,
    };
    this.timers = {
      after: (ms, task) => {
        let wanted = true;
        this.later(ms / this.#rate + world.random.between(0, 1), () => {
          if (wanted) task();
        });
        return () => {
          wanted = false;
        };
      },
    };
  }

  get alive(): boolean {
    return this.#alive;
  }

  get paused(): boolean {
    return this.#world.now < this.#pausedUntil;
  }

  /** Runs `task` in this process after `ms`, or when it wakes up, unless it is killed before. */
  later(ms: number, task: () => void): void {
    this.#world.at(this.#world.now + ms, () => this.#deliver(task));
  }

  /** SIGSTOP, and SIGCONT after `ms`. */
  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#world.now + ms);
  }

  /** The machine stands still: its monotonic clock does not notice, and the wall clock only if it is set anew. */
  freeze(ms: number, wallClockCatchesUp: boolean): void {
    this.pause(ms);
    this.#uncounted += ms;
    if (!wallClockCatchesUp) this.#wallUncounted += ms;
  }

  kill(): void {
    this.#alive = false;
  }

  #deliver(task: () => void): void {
    if (!this.#alive) return;
    if (this.paused) this.#world.at(this.#pausedUntil, () => this.#deliver(task));
    else task();
  }
}

function before(a: Happening, b: Happening): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

function push(heap: Happening[], item: Happening): void {
  let at = heap.length;
  heap.push(item);
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const above = heap[parent] as Happening;
    if (!before(item, above)) break;
    heap[at] = above;
    at = parent;
  }
  heap[at] = item;
}

function pop(heap: Happening[]): void {
  const item = heap.pop();
  if (item === undefined || heap.length === 0) return;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && before(heap[child + 1] as Happening, heap[child] as Happening)) child += 1;
    if (!before(heap[child] as Happening, item)) break;
    heap[at] = heap[child] as Happening;
    at = child;
  }
  heap[at] = item;
}
