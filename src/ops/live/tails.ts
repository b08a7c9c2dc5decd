import type { Clock } from '../../ports/clock.ts';
import type { LiveTail, LiveTails, TailState } from '../../ports/live-tails.ts';
import type { OpenCounts, OpenTail, TailReading, TailStore } from '../../ports/tails.ts';
import type { Timers } from '../../ports/timers.ts';
import type { TailCollector } from './tail-collector.ts';

export interface LiveTailParts {
  readonly store: TailStore;
  readonly collector: Pick<TailCollector, 'begin' | 'forget' | 'countOpen'>;
  readonly replicaId: () => string | null;
  /** Whether this process is about to end, which ends its tails. */
  readonly isLeaving: () => boolean;
  /** Returns a new UUID. */
  readonly randomId: () => string;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly timers: Timers;
  /** Maximum number of open tails over all replicas; 8 by default. */
  readonly most?: number;
}

const everyMs = 500;
/** Milliseconds for which a tail counts as sampled after a request was left out. */
const sampledMs = 5_000;
const usualMost = 8;

/** Makes the part that opens tails for the clients of this replica. */
export function liveTails(parts: LiveTailParts): LiveTails {
  const { store, collector, randomId, most = usualMost } = parts;
  return {
    async open(filter) {
      const tail = { id: randomId(), filter };
      if (!(await store.open(tail, most))) return null;
      // The other replicas learn of the tail from their next report.
      collector.begin(tail);
      return new ReadTail(tail, parts);
    },
  };
}

/** A tail of a client of this replica. */
class ReadTail implements LiveTail {
  readonly #tail: OpenTail;
  readonly #parts: LiveTailParts;
  readonly #dropped = new Map<string, number>();
  #droppedMs = -Infinity;
  #taken = 0;
  #closing: Promise<void> | undefined;
  state: TailState;

  constructor(tail: OpenTail, parts: LiveTailParts) {
    this.#tail = tail;
    this.#parts = parts;
    this.state = this.#stateAfter({ lines: [], replicas: [] });
  }

  async next(): ReturnType<LiveTail['next']> {
    const { store, timers, isLeaving } = this.#parts;
    if (isLeaving()) return null;
    await new Promise<void>((resolve) => void timers.after(everyMs, resolve));
    const reading = await store.read(this.#tail.id, this.#taken);
    if (reading === null) return null;
    this.#taken = reading.lines.length;
    this.state = this.#stateAfter(reading);
    return { lines: [...reading.lines].sort(), state: this.state };
  }

  close(): Promise<void> {
    const { store, collector } = this.#parts;
    collector.forget(this.#tail.id);
    return (this.#closing ??= store.close(this.#tail.id).catch(() => undefined));
  }

  #stateAfter({ replicas }: TailReading): TailState {
    const { clock, replicaId } = this.#parts;
    const nowMs = clock.monotonicMs();
    const own = replicaId();
    // A replica that has ended is no longer listed, but its requests stay left out.
    for (const { id, dropped } of replicas)
      if (dropped > (this.#dropped.get(id) ?? 0)) {
        this.#dropped.set(id, dropped);
        this.#droppedMs = nowMs;
      }
    return {
      // This replica collects from the beginning, so it is always among them.
      replicas: [...new Set([...(own === null ? [] : [own]), ...replicas.map(({ id }) => id)])].sort(),
      sampled: nowMs - this.#droppedMs < sampledMs,
      dropped: [...this.#dropped.values()].reduce((sum, dropped) => sum + dropped, 0),
      open: this.#openOn(replicas.filter(({ id }) => id !== own)),
    };
  }

  /** Adds up what this replica has open now, and what the others have told. */
  #openOn(others: TailReading['replicas']): OpenCounts {
    const all = [this.#parts.collector.countOpen(this.#tail.filter), ...others.map(({ open }) => open)];
    return {
      requests: all.reduce((sum, { requests }) => sum + requests, 0),
      streams: all.reduce((sum, { streams }) => sum + streams, 0),
    };
  }
}
