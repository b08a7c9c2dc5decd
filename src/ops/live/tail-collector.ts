import type { Clock } from '../../ports/clock.ts';
import type { RequestParties, RequestRecord } from '../../ports/request-record.ts';
import {
  tailLifeMs,
  type CollectedLines,
  type OpenCounts,
  type OpenTail,
  type TailFilter,
  type TailStore,
} from '../../ports/tails.ts';
import type { Timers } from '../../ports/timers.ts';
import { repeat } from '../../timing/repeat.ts';
import { isBy, lineOf, matches, seen, type SeenRequest } from './tail-line.ts';

export interface TailCollectorParts {
  readonly store: Pick<TailStore, 'add'>;
  /** Returns the id that this process is registered under; `null` until it is registered. */
  readonly replicaId: () => string | null;
  readonly clock: Clock;
  readonly timers: Timers;
}

/** Counts the exchanges that are open in this process. */
export interface OpenExchanges {
  countOpen(matches: (parties: RequestParties) => boolean): OpenCounts;
}

/** A tail for which this replica collects. */
interface Collected extends OpenTail {
  /** Whether the client of the tail is connected to this replica. */
  readonly isOwn: boolean;
  requests: SeenRequest[];
  dropped: number;
  /** Number of requests left out and open exchanges, as the store was told last; `null` before that. */
  told: Pick<CollectedLines, 'dropped' | 'open'> | null;
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
  /** The exchanges to count. There are none before the listeners are open. */
  exchanges: OpenExchanges = { countOpen: () => ({ requests: 0, streams: 0 }) };
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

  /** Counts the open exchanges of this replica that are by the account and the key of a tail. */
  countOpen(filter: TailFilter): OpenCounts {
    return this.exchanges.countOpen((parties) => isBy(filter, parties));
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
    for (const tail of this.open ?? []) {
      const open = this.countOpen(tail.filter);
      if (tail.requests.length > 0 || isNews(tail, open)) await this.#add(tail, replica, open);
    }
  }

  async #add(tail: Collected, replica: string, open: OpenCounts): Promise<void> {
    const { requests, dropped } = tail;
    tail.requests = [];
    const lines = requests.map((request) => lineOf(request, replica));
    try {
      const added = await this.#parts.store.add({ tail: tail.id, replica, lines, dropped, open });
      if (added === null) return this.forget(tail.id);
      tail.dropped += lines.length - added;
      tail.told = { dropped: dropped + lines.length - added, open };
    } catch {
      // The report that follows says whether the store is back.
      tail.dropped += lines.length;
    }
  }
}

/** Whether the store has to be told something about a tail, even if there are no lines. */
function isNews({ told, dropped }: Collected, open: OpenCounts): boolean {
  if (told === null || told.dropped !== dropped) return true;
  return told.open.requests !== open.requests || told.open.streams !== open.streams;
}

function begun(tail: OpenTail, isOwn: boolean): Collected {
  return { ...tail, isOwn, requests: [], dropped: 0, told: null, secondMs: -Infinity, inSecond: 0 };
}
