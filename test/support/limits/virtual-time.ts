import type { Clock } from '../../../src/ports/clock.ts';
import type { Timers } from '../../../src/ports/timers.ts';

interface Timer {
  readonly atMs: number;
  readonly task: () => void;
}

/** Time for several machines at once, each with a clock of its own that may be fast or slow. */
export class VirtualTime {
  nowMs = 0;
  readonly #timers = new Set<Timer>();

  /** Calls `task` in `ms`. Returns how to call it off. */
  after(ms: number, task: () => void): () => void {
    const timer = { atMs: this.nowMs + Math.max(0, ms), task };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** @param rate of its clocks: 1.03 is 3 % fast @param aheadMs of its wall clock */
  machine(rate: number, aheadMs: number): { readonly clock: Clock; readonly timers: Timers } {
    return {
      clock: {
        monotonicMs: () => 5_000_000 + this.nowMs * rate,
        wallMs: () => Date.UTC(2026, 5, 15) + this.nowMs * rate + aheadMs,
      },
      timers: { after: (ms, task) => this.after(ms / rate, task) },
    };
  }

  /** Goes on to an instant; timers go off in order, each with everything that follows from it. */
  async until(endMs: number): Promise<void> {
    for (;;) {
      let next: Timer | undefined;
      for (const timer of this.#timers) if (timer.atMs < (next?.atMs ?? Infinity)) next = timer;
      if (next === undefined || next.atMs > endMs) break;
      this.#timers.delete(next);
      this.nowMs = next.atMs;
      next.task();
      for (let i = 0; i < 12; i++) await Promise.resolve();
    }
    this.nowMs = endMs;
  }
}
