/** The ways of keeping a limit over replicas that were compared, as small as they can be. Times are milliseconds. */
import type { VirtualTime } from '../../test/support/limits/virtual-time.ts';

export interface Limit {
  readonly rate: number;
  readonly burst: number;
}

/** One replica's side. */
export interface Side {
  take(): boolean;
}

/** What all of them have between them. */
export interface Model {
  readonly name: string;
  readonly sides: readonly Side[];
  /** Messages to the store so far. */
  messages: number;
  /** Cuts replicas off from the store, or ends that. */
  cut(replicas: readonly number[]): void;
}

/** One way, on a good network. */
const latencyMs = 1.5;
const everyMs = 250;

/** A bucket at the store, and a round trip for every request. Cut off it rejects: letting through would know no bound. */
export function gcra(time: VirtualTime, { rate, burst }: Limit, replicas: number): Model {
  let full = -Infinity;
  let cut = new Set<number>();
  const sides = Array.from({ length: replicas }, (_, i) => ({
    take: () => {
      if (cut.has(i)) return false;
      model.messages += 1;
      const at = Math.max(full, time.nowMs) + 1000 / rate;
      if (at - time.nowMs > (burst * 1000) / rate) return false;
      full = at;
      return true;
    },
  }));
  const model: Model = {
    name: 'GCRA, asked for every request',
    sides,
    messages: 0,
    cut: (which) => (cut = new Set(which)),
  };
  return model;
}

/** A bucket at the store from which replicas take portions for the next quarter of a second of their demand. Cut off, a replica has what it holds. */
export function leasedPortions(time: VirtualTime, { rate, burst }: Limit, replicas: number): Model {
  let level = burst;
  let levelMs = 0;
  let cut = new Set<number>();
  const ask = (i: number, wanted: number, given: (tokens: number) => void): void => {
    model.messages += 1;
    time.after(latencyMs, () => {
      if (cut.has(i)) return given(0);
      level = Math.min(burst, level + ((time.nowMs - levelMs) * rate) / 1000);
      levelMs = time.nowMs;
      const portion = Math.max(0, Math.min(wanted, level));
      level -= portion;
      time.after(latencyMs, () => given(portion));
    });
  };
  const sides = Array.from({ length: replicas }, (_, i) => {
    let tokens = 0;
    let heldMs = 0;
    let demand = 0;
    let asked = 0;
    let askedMs = 0;
    let waiting = false;
    return {
      take: () => {
        asked += 1;
        // A portion that was not used in a second is given back.
        if (time.nowMs - heldMs > 1_000) tokens = 0;
        if (tokens < (demand * everyMs) / 2000 + 1 && !waiting && time.nowMs - askedMs >= 25) {
          waiting = true;
          demand += ((asked * 1000) / Math.max(25, time.nowMs - askedMs) - demand) / 2;
          askedMs = time.nowMs;
          asked = 0;
          ask(i, Math.max(1, (demand * everyMs) / 1000), (portion) => {
            waiting = false;
            tokens += portion;
            heldMs = time.nowMs;
          });
        }
        if (tokens < 1) return false;
        tokens -= 1;
        return true;
      },
    };
  });
  const model: Model = {
    name: 'token bucket, leased portions',
    sides,
    messages: 0,
    cut: (which) => (cut = new Set(which)),
  };
  return model;
}

/** Each counts the last second, and hears of the others' counts every quarter of a second; together they may not exceed one second's worth. */
export function slidingWindow(time: VirtualTime, { rate, burst }: Limit, replicas: number): Model {
  const most = Math.max(rate, burst);
  const slots = 10;
  const slotMs = (most / rate) * (1000 / slots);
  let cut = new Set<number>();
  const known = Array.from({ length: replicas }, () => 0);
  const sides = Array.from({ length: replicas }, (_, i) => {
    const counts = new Map<number, number>();
    let others = 0;
    const own = (): number => {
      const first = Math.floor(time.nowMs / slotMs) - slots + 1;
      let sum = 0;
      for (const [slot, count] of counts) {
        if (slot < first) counts.delete(slot);
        else sum += count;
      }
      return sum;
    };
    const exchange = (): void => {
      time.after(everyMs, exchange);
      model.messages += 1;
      if (cut.has(i)) return;
      known[i] = own();
      others = known.reduce((sum, count, j) => (j === i ? sum : sum + count), 0);
    };
    time.after((everyMs * (i + 1)) / replicas, exchange);
    return {
      take: () => {
        if (own() + others >= most) return false;
        const slot = Math.floor(time.nowMs / slotMs);
        counts.set(slot, (counts.get(slot) ?? 0) + 1);
        return true;
      },
    };
  });
  const model: Model = {
    name: 'sliding window, counts exchanged',
    sides,
    messages: 0,
    cut: (which) => (cut = new Set(which)),
  };
  return model;
}
