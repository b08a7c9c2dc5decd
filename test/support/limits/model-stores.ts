import type { LimitReport, PeerReport, ShareBoard } from '../../../src/ports/limits/share-board.ts';
import {
  nearEnd,
  smallQuota,
  type MonthAddition,
  type MonthTotals,
} from '../../../src/ports/limits/month-totals.ts';
import type { VirtualTime } from './virtual-time.ts';

/** What a message meets on its way. */
export interface Net {
  /** Milliseconds one way. */
  latencyMs(): number;
  /** Whether replica and store cannot reach each other now. */
  cut(replica: string): boolean;
  /** Whether this response is lost, though the store did as it was asked. */
  lost(): boolean;
}

/** After this a replica gives an exchange up. */
const timeoutMs = 500;

/** Sends a call to a store that is elsewhere. */
function send<T>(time: VirtualTime, net: Net, replica: string, work: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = time.after(timeoutMs, () => reject(new Error('too late')));
    if (net.cut(replica)) return;
    time.after(net.latencyMs(), () => {
      if (net.cut(replica)) return;
      const result = work();
      if (net.lost()) return;
      time.after(net.latencyMs(), () => {
        cancel();
        if (!net.cut(replica)) resolve(result);
      });
    });
  });
}

/** A board in memory, as far away as `net` says. */
export class ModelBoard implements ShareBoard {
  exchanges = 0;
  readonly #time: VirtualTime;
  readonly #net: Net;
  #reports = new Map<string, Map<string, { readonly report: LimitReport; readonly atMs: number }>>();

  constructor(time: VirtualTime, net: Net) {
    this.#time = time;
    this.#net = net;
  }

  flush(): void {
    this.#reports = new Map();
  }

  exchange(replica: string, reports: readonly LimitReport[]): ReturnType<ShareBoard['exchange']> {
    this.exchanges += 1;
    return send(this.#time, this.#net, replica, () => {
      const nowMs = this.#time.nowMs;
      const peers = reports.flatMap((report): PeerReport[] => {
        const of =
          this.#reports.get(report.limit) ?? new Map<string, { report: LimitReport; atMs: number }>();
        this.#reports.set(report.limit, of);
        of.set(replica, { report, atMs: nowMs });
        return [...of]
          .filter(([name]) => name !== replica)
          .map(([name, { report, atMs }]) => ({ ...report, replica: name, ageMs: nowMs - atMs }));
      });
      return { nowMs: nowMs + 1e9, peers };
    });
  }
}

/** Totals in memory. */
export class ModelTotals implements MonthTotals {
  readonly used = new Map<string, number>();
  calls = 0;
  readonly #quotas = new Map<string, number>();
  readonly #batches = new Map<string, number>();
  readonly #time: VirtualTime;
  readonly #net: Net;
  readonly #startMs: number;

  constructor(time: VirtualTime, net: Net, startMs: number) {
    this.#time = time;
    this.#net = net;
    this.#startMs = startMs;
  }

  #isNear(used: number, quota: number): boolean {
    return used >= nearEnd * quota || quota <= smallQuota;
  }

  add(replica: string, batch: number, additions: readonly MonthAddition[]): ReturnType<MonthTotals['add']> {
    this.calls += 1;
    return send(this.#time, this.#net, replica, () => {
      const isNew = (this.#batches.get(replica) ?? 0) < batch;
      this.#batches.set(replica, Math.max(batch, this.#batches.get(replica) ?? 0));
      for (const { limit, monthMs, requests, quota } of additions) {
        const name = `${limit} ${monthMs}`;
        if (isNew) this.used.set(name, (this.used.get(name) ?? 0) + requests);
        this.#quotas.set(name, quota);
      }
      const asked = new Set(additions.map(({ limit, monthMs }) => `${limit} ${monthMs}`));
      const totals = [...this.used]
        .filter(([name, used]) => asked.has(name) || this.#isNear(used, this.#quotas.get(name) ?? Infinity))
        .map(([name, used]) => ({
          limit: name.split(' ')[0] ?? '',
          monthMs: Number(name.split(' ')[1]),
          used,
        }));
      return { nowMs: this.#startMs + this.#time.nowMs, totals };
    });
  }
}
