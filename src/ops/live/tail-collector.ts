import type { Clock } from '../../ports/clock.ts';
import type { RequestRecord } from '../../ports/request-record.ts';
import { tailLifeMs, type OpenTail, type TailStore } from '../../ports/tails.ts';
import type { Timers } from '../../ports/timers.ts';
import { repeat } from '../../timing/repeat.ts';
import { lineOf, matches, seen, type SeenRequest } from './tail-line.ts';

export interface TailCollectorParts {
  readonly store: Pick<TailStore, 'add'>;
  /** Returns the id that this process is registered under; `null` until it is registered. */
  readonly replicaId: () => string | null;
  readonly clock: Clock;
  readonly timers: Timers;
}

/** A tail for which this replica collects. */
interface Collected extends OpenTail {
  /** Whether the client of the tail is connected to this replica. */
  readonly isOwn: boolean;
  requests: SeenRequest[];
  dropped: number;
  /** Number of requests left out, as the store was told last; -1 before that. */
  told: number;
  /** When the current second began, by the monotonic clock, and the number of requests collected in it. */
  secondMs: number;
  inSecond: number;
}

const everyMs = 500;
/** Maximum number of requests that are collected for a tail in a second. */
const mostPerSecond = 50;
/** Maximum number of requests in memory for a tail, should the store take long. */
const mostHeld = 100;

/**
 * Collects the requests of this replica that open tails show, and adds them to the store twice a second. Without a tail,
 * it does nothing, and a request costs a look at {@link open}.
 */
export class TailCollector {
  readonly #parts: TailCollectorParts;
  /** The tails to collect for; `null` if there are none. */
  open: readonly Collected[] | null = null;
  #heardMs = 0;
  #stop: (() => void) | undefined;

  constructor(parts: TailCollectorParts) {
    this.#parts = parts;
  }

  /** Collects a finished request for each tail that shows it. Call it only if there are any. */
  note(record: RequestRecord): void {
    let nowMs: number | undefined;
    for (const tail of this.open ?? [])
      if (matches(tail.filter, record)) this.#take(tail, record, (nowMs ??= this.#parts.clock.monotonicMs()));
  }

  #take(tail: Collected, record: RequestRecord, nowMs: number): void {
    if (nowMs - tail.secondMs >= 1_000) [tail.secondMs, tail.inSecond] = [nowMs, 0];
    if (tail.inSecond >= mostPerSecond || tail.requests.length >= mostHeld) {
      tail.dropped += 1;
      return;
    }
    tail.inSecond += 1;
    tail.requests.push(seen(record, this.#parts.clock.wallMs()));
  }

  /** Collects for these tails from now on, and no longer for others, except those that began here. */
  learn(tails: readonly OpenTail[]): void {
    this.#heardMs = this.#parts.clock.monotonicMs();
    const known = this.open ?? [];
    if (tails.length === 0 && known.length === 0) return;
    const own = known.filter(({ isOwn }) => isOwn);
    const others = tails.filter(({ id }) => !own.some((tail) => tail.id === id));
    this.#collectFor([
      ...own,
      ...others.map((tail) => known.find(({ id }) => id === tail.id) ?? begun(tail, false)),
    ]);
  }

  /** Collects for a tail whose client is connected to this replica, until {@link forget} is called. */
  begin(tail: OpenTail): void {
    this.#collectFor([...(this.open ?? []), begun(tail, true)]);
  }

  /** Collects no longer for a tail. */
  forget(id: string): void {
    this.#collectFor((this.open ?? []).filter((tail) => tail.id !== id));
  }

  /** Collects for no tail any longer. */
  stop(): void {
    this.#collectFor([]);
  }

  #collectFor(tails: readonly Collected[]): void {
    this.open = tails.length === 0 ? null : tails;
    if (this.open === null) {
      this.#stop?.();
      this.#stop = undefined;
    } else this.#stop ??= repeat(this.#parts.timers, everyMs, () => this.#flush());
  }

  async #flush(): Promise<void> {
    // The first run begins before `repeat` has returned, and `#collectFor` needs its result.
    await Promise.resolve();
    const { clock, replicaId } = this.#parts;
    // Reports tell this replica which tails are open, so it gives up the others' tails when none succeeds.
    if (clock.monotonicMs() - this.#heardMs > tailLifeMs)
      this.#collectFor((this.open ?? []).filter(({ isOwn }) => isOwn));
    const replica = replicaId();
    if (replica === null) return;
    for (const tail of this.open ?? [])
      if (tail.requests.length > 0 || tail.told !== tail.dropped) await this.#add(tail, replica);
  }

  async #add(tail: Collected, replica: string): Promise<void> {
    const { requests, dropped } = tail;
    tail.requests = [];
    const lines = requests.map((request) => lineOf(request, replica));
    try {
      const added = await this.#parts.store.add({ tail: tail.id, replica, lines, dropped });
      if (added === null) return this.forget(tail.id);
      tail.dropped += lines.length - added;
      tail.told = dropped + lines.length - added;
    } catch {
      // The report that follows says whether the store is back.
      tail.dropped += lines.length;
    }
  }
}

function begun(tail: OpenTail, isOwn: boolean): Collected {
  return { ...tail, isOwn, requests: [], dropped: 0, told: -1, secondMs: -Infinity, inSecond: 0 };
}
